package memory

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// directly follows an order about a gate; what else does makes the words those of a program.
const directly = `(?:\.|now|at|immediately|without|yourself|automatically|silently|for|and|then|so|as|with|before|in|on|directly) `

// What a note says to a model that reads it, rather than about the work. Words are compared without
// accents and in lower case; where letters can be spread out, without spaces.
var (
	// orders dismiss what the model was told: on the text without spaces. Rules, messages and the
	// like are also those of a program: only with words that make them the model's.
	orders = pattern.New(`(?:ignor(?:e|ez|er|ing)|disregard|forget|overrid(?:e|ing)|bypass|neglect|discard|(?:stop|donot|dont)(?:follow|obey)(?:ing)?|paynoattentionto|oubli(?:e|ez|er)|ne(?:tiens|tenez)pascompte(?:de)?|nobei(?:s|ssez)(?:plus|pas)(?:aux|a)?)` +
		`(?:all|any|of|the|these|those|this|my|our|toutes?|tous|les|des|tes|vos|ces|mes|your|every){0,5}?` +
		`(?:(?:previous|prior|above|earlier|preceding|foregoing|former|existing|system|developer|initial|original|other|your|vos|tes|precedente?s?|anterieure?s?|initiale?s?|instructions?|consignes?|directives?)` +
		`(?:system|developer|and|or|et|ou)?(?:instructions?|prompts?|guidelines?|directi(?:on|ve)s?|training|consignes?|precedente?s?|anterieure?s?|initiale?s?|cidessus|donneesavant|above|before)` +
		`|(?:previous|prior|above|preceding|system|developer|initial|your|precedente?s?|anterieure?s?)(?:system|developer|safety|and|or)?(?:rules?|constraints?|regles?)|(?:system|developer|your)(?:messages?|orders?|context|commands?)|(?:all|any)(?:the)?(?:instructions|guidelines)|rulesyouweregiven)` +
		`|(?:ignore|disregard|forget)(?:everything|anything|all|what(?:ever)?)(?:that)?(?:above|before|you(?:were|havebeen|vebeen|know)|previous|prior)` +
		`|oublie[zr]?tout(?:ce(?:qui|que))?(?:precede|avant|tu|vous)` +
		`|(?:忽略|无视|無視|忘记|忘記|忘掉|不要(?:再)?听|不要聽|不要遵循|不要理会|不要理會|不必遵守|不要遵守|跳过|跳過|覆盖|覆蓋)[\p{Han}]{0,4}?(?:(?:之前|以前|以上|上面|上述|先前|前面|此前|系统|系統|你的|原有)[\p{Han}]{0,6}?|(?:所有|全部|任何)[\p{Han}]{0,2}?)(?:指令|指示|提示|规则|規則|要求|命令|约束|約束|设定|設定|对话|對話)`)
	// roles make the model someone else, or keep the person out: on sentences.
	roles = pattern.New(`(?: (?:you (?:are|re) now (?:in|an?|the|my|root|admin|free|acting|operating|no longer|allowed|authori[sz]ed|permitted|unrestricted)|from now on you (?:will|must|are|shall|should|can|may|have|answer|act|obey|only|do|always|never|respond|reply|follow|approve|skip|ignore)|your (?:new )?(?:instructions?|role|task|goal) (?:is now|are now|have changed|has changed)|your new (?:instructions?|role|task|goal) (?:is|are)|new (?:system )?instructions? (?:for|to) (?:the )?(?:ai|assistant|model|agent|claude)|if you are an? (?:ai|llm|language model|assistant|agent)|(?:ai|llm|agents?|assistants?|models?|claude) (?:that reads?|reading) this|pretend (?:to be|you are)|act as (?:if you|an? (?:unrestricted|root))|jailbreak|developer mode enabled|you have been (?:granted|authori[sz]ed)` +
		`|(?:reveal|print|show|repeat|leak|output) (?:me )?(?:your|the) (?:full |hidden |initial )?(?:system )?(?:prompt|instructions)|system override|skip (?:the )?(?:human|person)|(?:the )?(?:human|person) (?:has )?already (?:approved|confirmed|agreed)|(?:decode|base64)(?: [\p{L}\p{N}]+){0,5} (?:and|then) (?:follow|obey|execute|run|do)) ` +
		`| (?:do not|don t|never|without) (?:tell|telling|ask|asking|inform|informing|mention|mentioning|notify|notifying|show|showing)(?: (?:this|it))?(?: to)? (?:the )?(?:user|human|person|people|owner|operator)s? +(?:\.|about (?:this|it|that)|of this|that (?:you|this)|anything|what you|first|for (?:confirmation|permission|approval)|again|or|and|but|then|just|before) ` +
		`| (?:tu es|vous etes) (?:maintenant|desormais) | a partir de maintenant (?:tu|vous) | (?:sans|ne) (?:demander|prevenir|le dire|dis rien|dites rien|informer)(?: rien)? (?:a l|au|a la|l|la|le) ?(?:utilisateur|humain|personne|client) +(?:\.|et|ni|sa|son|de (?:confirmer|valider|approuver)))` +
		`|(?:你现在是|你現在是|从现在起你|从现在开始你|從現在起你|從現在開始你|现在开始扮演|(?:不要|别|別|无需|無需|不必|切勿)(?:再)?(?:告诉|告訴|询问|詢問|通知|提醒|征求|徵求)(?:给|給)?(?:用户|用戶|使用者|人类|人類|本人|客户|客戶)(?: |关于|關於|这|這|此|任何|你))`)
	// tools are ours, with an imperative before them: on words.
	tools = pattern.New(` (?:call|use|run|invoke|execute|trigger|submit|send|appelle[zr]?|utilise[zr]?|lance[zr]?|execute[zr]?) (?:[\p{L}\p{N}]+ ){0,4}?(?:bmad (?:task|confirm|agent|workflow|resources)|remember structured|recall structured|spawn subagent task|delegate to agent|run completion contract)` +
		`|(?:调用|調用|使用|运行|運行|执行|執行)[\p{Han} ]{0,8}bmad (?:task|confirm|agent|workflow)`)
	// gates are opened by people alone, who also judge what is handed in: on sentences.
	gates = pattern.New(` (?:approve|confirm|adopt|accept) (?:all |every |each |any |the |this |these |its |their )+(?:current |next |pending |open |waiting |following |sprint |prd |stage |review |qa |release )*(?:gate|prd|draft|plan|document|architecture|stage|session|submission|finding|risk)s? +` + directly +
		`| (?:skip|open|bypass|pass) (?:all |every |each |any |the |this |these |its |their )+(?:current |next |pending |open |waiting |human |person s )*(?:gate|approval|confirmation)s? +` + directly +
		`| approve (?:everything|(?:it|this) +(?:\.|now|immediately|without)) | mark (?:all |the |this |every |each |current |next )+(?:gate|stage|plan|prd|document|draft)s? (?:as )?(?:approved|confirmed|passed) | answer (?:all |the |every |each )+(?:gate|question|form)s? with (?:yes|approve|true) ` +
		`| (?:give|submit|claim|report) (?:this |the |it |every |each |a |all |document |draft |submission )*score (?:of |to )?(?:100|9\d) | always (?:say|report|answer|write) (?:that )?(?:the verdict )?(?:is |as )?pass | report pass (?:whatever|regardless|always|no matter) ` +
		`| (?:set|with|pass|use|send|and) (?:confirmed|approved)(?: to| as)? true | action (?:\. |to |as )?(?:approve|confirm|adopt) | decision (?:to |as )?(?:approve|confirm) | (?:confirmed|approved) (?:\. )?true ` +
		`|(?: (?:approuve|confirme|valide|accepte)[zr]|(?:^|\.| et| puis| alors| donc) +(?:approuve|confirme|valide|accepte)) (?:toujours |automatiquement |immediatement )?(?:le |la |les |l |ce |cette |tous |toutes )+(?:plan|prd|document|architecture|etape|porte|session|gate|brouillon)s? ` +
		`|(?:请|請|直接|立即|必须|必須|自动|自動|务必|務必|总是|總是|马上|馬上)[\p{Han}]{0,4}?(?:(?:批准|确认|確認|通过|通過|采纳|採納|同意)[\p{Han}]{0,6}?(?:计划|計劃|文档|文檔|草稿|阶段|階段|会话|會話|架构|架構|评审|評審|需求)|(?:批准|通过|通過|打开|打開)[\p{Han}]{0,6}?(?:关卡|關卡))`)
	// marks are those of a conversation with a model: on the plain text in lower case.
	marks = pattern.New(`<\|?/?(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id|begin_of_text)\|?>|(?:</?(?:system|assistant|human|system[-_ ](?:prompt|reminder|message)|tool_(?:result|use)|function_calls?|function_results?)|(?:^|\n)\s*</?(?:user|instructions?))(?:\s[^>]{0,80})?>|\[/?(?:inst|system|assistant)\]|<</?sys>>` +
		`|(?:^|\n)\s*#{1,6}\s*(?:system|new instructions?|instructions? for (?:the )?(?:ai|assistant|model))\s*:?\s*(?:\n|$)|(?:^|\n)\s*(?:assistant|human|system|system prompt|system message|système)\s*:`)
	encoded = pattern.New(`[A-Za-z0-9+/_-]{200}`)
)

// suspicious reports whether a text addresses the model that reads it, or hides what it says.
func suspicious(text string) bool {
	if strings.ContainsFunc(text, tagCharacter) {
		return true
	}
	plain, _ := plainText(text)
	words, sentences, joined := wordsOf(plain)
	if orders.MatchString(joined) || roles.MatchString(sentences) || tools.MatchString(words) || gates.MatchString(sentences) || marks.MatchString(strings.ToLower(plain)) {
		return true
	}
	solid := strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(plain)
	for _, run := range encoded.FindAllString(solid, -1) {
		letters, digits, upper, _ := kinds(run)
		if digits > 0 && upper > 0 && upper < letters {
			return true
		}
	}
	return false
}

// Suspicious reports whether the note addresses the model that reads it, in any of what is shown.
func (n *Note) Suspicious() bool {
	return suspicious(strings.Join(append([]string{n.Text, n.Agent, n.ID, n.By}, n.Tags...), "\n"))
}

// Masked returns the note without the credentials that somebody wrote into the file.
func (n Note) Masked() Note {
	n.Text = mask(n.Text)
	n.Tags = slices.Clone(n.Tags)
	for i, tag := range n.Tags {
		n.Tags[i] = mask(tag)
	}
	return n
}
