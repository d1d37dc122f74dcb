package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// sentences makes notes of a language: a subject, its trouble, a time, and a remedy. Half of the
// subjects are made of two nouns of the domains of the judged notes.
type sentences struct {
	form, subjects, troubles, times, remedies, nouns []string
	pair                                             string
}

var languages = []sentences{{
	form: []string{"%[1]s %[2]s %[3]s; %[4]s.", "%[4]s, because %[1]s %[2]s %[3]s.", "Lesson: %[1]s %[2]s. %[4]s.", "Decision of the team: %[4]s. Background: %[1]s %[2]s %[3]s."},
	subjects: strings.Split("the newsletter editor|the warehouse screen|the tax report|the map of the depots|the chat widget|the login banner|the product importer|the price calculator|the nightly cleanup|"+
		"the gateway of the partners|the image resizer|the translation sheet|the audit table|the admin menu|the loyalty module|the vaccination planner|the course catalogue|the parcel tracker|the invoice archive|the run store|"+
		"the search suggestions|the payroll preview|the webhook console|the settings page|the tenant switcher|the coupon engine|the thermometer feed|the seat map|the contract template|the Helm chart|the Go client|the Python worker|"+
		"the Vue store|the Kafka topic|the Grafana panel|the nginx rule|the S3 lifecycle|the cron of accounting|the QR scanner|the feedback form", "|"),
	troubles: strings.Split("needs twice the memory|shows an empty list|keeps the old colour|sorts by the wrong column|loses the second page|writes too many lines|asks for the password again|ignores the language of the user|"+
		"counts cancelled rows|blocks the release|sends the file without a name|was tested with one tenant only|has no owner|waits for a manual approval|depends on an abandoned library|was documented nowhere|"+
		"rounds the discount|opens a second connection|breaks in Safari|does not log the request id|retries without a pause|uses the production bucket|is slower than before|rejects names with an apostrophe", "|"),
	times: strings.Split("after the upgrade|since the merge|on Mondays|in the demo environment|for large customers|when two people edit|with the new theme|behind the proxy|on small phones|during the import|at the end of the quarter|"+
		"when the network is bad|in the French version|after a rollback|without a warm start|under load", "|"),
	remedies: strings.Split("add a check to the pipeline|ask the product owner first|move it to the shared module|write the rule into the wiki|keep the flag for one more sprint|compare with the figures of support|measure before changing it|"+
		"pair with the data team|delete the copy in legacy|pin the version|cover it by a contract test|name the column like the domain does|review it with security|turn it off until the fix is out|split the file|give it a timeout of its own", "|"),
	nouns: strings.Split("cache|certificate|backup|migration|index|queue|payment|refund|invoice|appointment|reminder|stock|order|upload|export|connection pool|timeout|docker image|pull request|snapshot|access token|password|account|state file|lock|footer|date|rate limit|permission|role|attachment|mailbox|log file|health check|load balancer|cluster|pipeline|feature flag|report|translation|button|keyboard shortcut|scheduler|retry|consumer|webhook|price|tax|salary|discount|customer|student|patient|doctor|booking|shipment|warehouse|supplier|contract|subscription|address|map|photo|video|battery|phone|screen|form|search|filter|page|database|table|column|query|transaction|server|container|network|disk|memory|thread|release|branch|dependency|library|test|mock|fixture|coverage|document|comment|sprint|meeting|team|decision|deadline|holiday|time zone|currency|bank transfer|audit trail|encryption key|session|cookie|browser|theme", "|"),
	pair:  "the %s of the %s",
}, {
	form: []string{"%[1]s %[2]s %[3]s ; %[4]s.", "Leçon : %[1]s %[2]s. %[4]s.", "%[1]s %[2]s %[3]s. Décision : %[4]s.", "Pour mémoire, %[1]s %[2]s ; il a été convenu ceci : %[4]s."},
	subjects: strings.Split("l'éditeur de bulletins|l'écran du dépôt|le rapport fiscal|la carte des agences|le module de discussion|la bannière de connexion|l'import des produits|le calcul des prix|le nettoyage de nuit|"+
		"la passerelle des partenaires|le redimensionnement des images|le tableau des traductions|la table d'audit|le menu d'administration|le module de fidélité|le planning des vaccinations|le catalogue des cours|le suivi des colis|"+
		"l'archive des factures|le magasin de sessions|les suggestions de recherche|l'aperçu de la paie|la console des webhooks|la page des réglages|le moteur de coupons|le plan des places|le modèle de contrat|le chart Helm|"+
		"le client Go|le traitement Python|le panneau Grafana|la règle nginx|le formulaire d'avis|le lecteur de codes", "|"),
	troubles: strings.Split("consomme deux fois plus de mémoire|affiche une liste vide|garde l'ancienne couleur|trie sur la mauvaise colonne|perd la deuxième page|écrit trop de lignes|redemande le mot de passe|ignore la langue de l'utilisateur|"+
		"compte les lignes annulées|bloque la version|envoie le fichier sans nom|n'a été essayé qu'avec un seul client|n'appartient à personne|attend une validation manuelle|dépend d'une bibliothèque abandonnée|n'est documenté nulle part|"+
		"arrondit la remise|ouvre une seconde connexion|casse sous Safari|relance sans pause|est plus lent qu'avant|refuse les noms avec apostrophe", "|"),
	times: strings.Split("depuis la mise à jour|depuis la fusion|le lundi|dans l'environnement de démonstration|chez les grands comptes|quand deux personnes modifient|avec le nouveau thème|derrière le proxy|sur les petits téléphones|"+
		"pendant l'import|en fin de trimestre|quand le réseau est mauvais|en version anglaise|après un retour arrière|sous charge", "|"),
	remedies: strings.Split("ajouter un contrôle au pipeline|demander d'abord au chef de produit|le déplacer dans le module partagé|écrire la règle dans le wiki|garder l'option un sprint de plus|comparer aux chiffres du support|"+
		"mesurer avant de changer|travailler en binôme avec l'équipe données|supprimer la copie héritée|figer la version|couvrir par un test de contrat|nommer la colonne comme le métier|le faire relire par la sécurité|"+
		"le couper jusqu'au correctif|découper le fichier|lui donner un délai propre", "|"),
	nouns: strings.Split("cache|certificat|sauvegarde|migration|index|file d'attente|paiement|remboursement|facture|rendez-vous|rappel|stock|commande|téléversement|export|pool de connexions|délai d'attente|image docker|demande de fusion|instantané|jeton d'accès|mot de passe|compte|fichier d'état|verrou|pied de page|date|limite de débit|droit d'accès|rôle|pièce jointe|boîte aux lettres|journal|contrôle de santé|répartiteur de charge|cluster|pipeline|rapport|traduction|bouton|raccourci clavier|planificateur|relance|consommateur|webhook|prix|taxe|salaire|remise|client|élève|patient|médecin|réservation|expédition|entrepôt|fournisseur|contrat|abonnement|adresse|carte|photo|batterie|téléphone|écran|formulaire|recherche|filtre|page|base de données|table|colonne|requête|transaction|serveur|conteneur|réseau|disque|mémoire|version|branche|dépendance|bibliothèque|test|bouchon|couverture|document|commentaire|sprint|réunion|équipe|décision|échéance|congé|fuseau horaire|devise|virement|clé de chiffrement|session|cookie|navigateur|thème", "|"),
	pair:  "le module %s (%s)",
}, {
	form: []string{"%[3]s，%[1]s%[2]s，%[4]s。", "教训：%[1]s%[2]s，%[4]s。", "%[1]s%[2]s。决定：%[4]s。", "%[3]s发现%[1]s%[2]s，因此%[4]s。"},
	subjects: strings.Split("简报编辑器|仓库屏幕|税务报告|网点地图|聊天组件|登录横幅|商品导入|价格计算|夜间清理|合作方网关|图片缩放|翻译表|审计表|管理菜单|积分模块|疫苗计划|课程目录|包裹跟踪|发票存档|会话存储|"+
		"搜索建议|工资预览|回调控制台|设置页面|租户切换|优惠券引擎|座位图|合同模板|图表面板|代理规则|反馈表单|扫码器", "|"),
	troubles: strings.Split("占用两倍内存|显示空列表|保留旧颜色|按错误的列排序|丢失第二页|写入过多的行|再次要求输入密码|忽略用户的语言|统计了已取消的行|阻碍了发布|发送的文件没有名字|只用一个租户测试过|没有负责人|"+
		"等待人工审批|依赖已停止维护的库|没有任何文档|对折扣四舍五入|打开了第二个连接|在苹果浏览器里错位|重试没有间隔|比以前慢|拒绝带撇号的名字", "|"),
	times:    strings.Split("升级之后|合并之后|每逢周一|在演示环境|对大客户|两个人同时编辑时|使用新主题时|在代理后面|在小屏手机上|导入期间|季度末|网络不好时|在法文版本中|回退之后|负载高时", "|"),
	remedies: strings.Split("在流水线里加检查|先问产品负责人|移到共享模块|把规则写进维基|再保留一个冲刺|与客服数字对比|先测量再修改|和数据团队结对|删除旧的副本|固定版本|用契约测试覆盖|列名与业务一致|请安全组评审|修好之前先关掉|拆分文件|单独设置超时", "|"),
	nouns:    strings.Split("缓存|证书|备份|迁移|索引|队列|支付|退款|发票|预约|提醒|库存|订单|上传|导出|连接池|超时|镜像|合并请求|快照|令牌|密码|账号|状态文件|锁|页脚|日期|限流|权限|角色|附件|邮箱|日志|健康检查|负载均衡|集群|流水线|功能开关|报表|翻译|按钮|快捷键|调度|重试|消费者|回调|价格|税|工资|折扣|客户|学生|患者|医生|预订|发货|仓库|供应商|合同|订阅|地址|地图|照片|电池|手机|屏幕|表单|搜索|筛选|页面|数据库|表|字段|查询|事务|服务器|容器|网络|磁盘|内存|线程|发布|分支|依赖|类库|测试|模拟|覆盖率|文档|注释|会议|团队|决策|截止日期|假期|时区|货币|转账|密钥|会话|浏览器|主题", "|"),
	pair:     "%s的%s",
}}

// distractors returns notes that answer none of the judged queries, the same at every call.
func distractors(n int) []recall.Doc {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	out := make([]recall.Doc, n)
	for i := range out {
		l := languages[r.IntN(len(languages))]
		subject := pick(l.subjects)
		if i%2 == 0 {
			subject = fmt.Sprintf(l.pair, pick(l.nouns), pick(l.nouns))
		}
		text := fmt.Sprintf(pick(l.form)+"%[5]s", subject, pick(l.troubles), pick(l.times), pick(l.remedies), "")
		if r.IntN(3) == 0 {
			text += fmt.Sprintf(" (%s%d, %s.%s)", pick([]string{"OPS-", "BUG-", "PROJ-", "INC-"}), r.IntN(9000), pick([]string{"core", "admin", "shared", "edge", "legacy"}), pick([]string{"loadAll", "applyRules", "nextStep", "buildView", "mapRow"}))
		}
		out[i] = recall.Doc{Key: fmt.Sprintf("d%05d", i), Text: text, Time: int64(i)}
	}
	return out
}
