package criteria

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Names of sections, as [markdown.NameOf] gives them, in the languages that the public methods are used in: English,
// Chinese, German, French, Spanish, Portuguese, Japanese and Korean.
var (
	// acceptance announces criteria.
	acceptance = []string{
		"acceptance criteria", "acceptance criterion", "acceptance scenarios", "acceptance scenario", "acceptance tests", "acceptance conditions",
		"=acceptance", "=criteria", "=scenarios", "=ac", "=acs", "conditions of satisfaction",
		"验收标准", "验收条件", "验收准则", "验收要点", "验收场景", "=验收", "接受标准", "接受条件", "通过标准", "=场景", "驗收標準", "驗收條件",
		"akzeptanzkriterien", "akzeptanzkriterium", "abnahmekriterien", "abnahmekriterium", "abnahmeszenarien", "akzeptanzszenarien", "=szenarien", "=abnahme", "=akzeptanz", "kriterien zur fertigstellung", "fertigstellungskriterien", "=kriterien",
		"critères d acceptation", "critère d acceptation", "critères d acceptance", "critères de validation", "=acceptation", "scénarios d acceptation", "=scénarios",
		"criterios de aceptación", "criterio de aceptación", "criterios de aceptacion", "=aceptación", "escenarios de aceptación", "=escenarios",
		"critérios de aceitação", "critério de aceitação", "critérios de aceite", "critério de aceite", "criterios de aceite", "criterios de aceitacao", "aceitação", "=aceite", "cenários de aceitação", "=cenários",
		"受け入れ基準", "受入基準", "受け入れ条件", "受入条件", "受け入れシナリオ", "受け入れ要件", "=シナリオ",
		"인수 기준", "인수기준", "인수 조건", "인수조건", "수용 기준", "수용기준", "수락 기준", "수락기준", "승인 기준", "완료 조건", "인수 시나리오", "=시나리오",
		"criteri di accettazione", "acceptatiecriteria", "критерии приемки", "критерии приёмки", "kryteria akceptacji", "kabul kriterleri",
	}
	// scenarios are the words among them after which the parts are scenarios.
	scenarios = []string{"scenario", "scenarios", "场景", "szenarien", "abnahmeszenarien", "scénarios", "escenarios", "cenários", "シナリオ", "시나리오"}
	// wanted are sections that list requirements.
	wanted = []string{
		"requirements", "requirement", "functional", "nonfunctional", "stories", "use cases", "features", "criteria",
		"需求", "要求", "功能", "故事", "用例", "验收", "anforderungen", "anforderung", "exigences", "besoins", "requisitos", "requerimientos", "historias", "histórias",
		"要件", "機能", "요구사항", "기능", "требования", "requisiti", "regras de negócio", "business rules", "constraints", "success criteria", "measurable outcomes",
	}
	// naming are sections that name ids of other places.
	naming = []string{
		"=coverage", "=traceability", "=trace", "=matrix", "=mapping", "traceability matrix", "coverage matrix", "coverage validation", "requirements traceability", "requirements coverage", "requirement coverage", "fr coverage", "coverage check", "coverage summary", "requirements mapping", "story mapping", "coverage map", "change log", "changelog", "revision history", "version history", "document history", "=references", "=dependencies",
		"=dependency", "sprint change", "tasks / subtasks", "=tasks", "=subtasks", "=task list", "test cases", "test plan", "=testing", "=glossary", "completion notes", "dev notes", "qa results", "file list",
		"validation summary", "validation checklist", "completed acceptance criteria", "definition of done", "=review", "=checklist",
		"追踪矩阵", "追溯矩阵", "需求追踪", "需求追溯", "需求覆盖", "覆盖矩阵", "覆盖图", "覆盖映射", "=追踪", "=追溯", "=覆盖", "=矩阵", "=变更记录", "=变更历史", "=修订", "=术语", "=词汇表", "=测试用例", "=测试计划", "=任务", "=任务列表", "=依赖", "=依赖关系", "=参考",
		"=änderungshistorie", "=änderungsverzeichnis", "=glossar", "=abdeckung", "=rückverfolgbarkeit", "=abhängigkeiten", "=couverture", "=traçabilité", "=glossaire", "=historique", "=dépendances",
		"=cobertura", "=trazabilidad", "=rastreabilidade", "=glosario", "=glossário", "=historial", "historial de cambios", "historial de versiones", "matriz de trazabilidad", "matriz de rastreabilidade", "matrice de traçabilité", "histórico de revisões", "histórico de alterações", "=dependencias", "=dependências", "=変更履歴", "=用語", "=トレーサビリティ", "변경 이력", "=용어", "=추적",
	}
	// restating are sections that may define ids, or repeat those of other places.
	restating = []string{
		"summary", "overview", "=releases", "release plan", "roadmap", "milestones", "milestone", "priorities", "prioritization", "priority", "=epic list", "timeline", "phases", "next steps", "=scope", "in scope", "mvp scope",
		"概览", "总览", "概要", "摘要", "概述", "优先级", "里程碑", "路线图", "发布计划", "版本计划", "übersicht", "zusammenfassung", "résumé", "resumen", "resumo", "feuille de route", "hoja de ruta",
	}
	// other are sections whose ids are about something else, unless the family is that of a requirement.
	other = []string{
		"risk", "risks", "assumptions", "assumption", "goals", "goal", "objectives", "objective", "metrics", "kpi", "kpis", "key results", "questions", "open points", "decisions", "decision", "personas", "persona",
		"stakeholders", "stakeholder", "user journeys", "journeys", "appendix", "todo", "issues", "problems", "pain points", "competitors", "alternatives", "team", "technology", "findings", "tech stack", "architecture", "data model", "api", "endpoints",
		"风险", "假设", "目标", "指标", "问题", "决策", "角色", "干系人", "附录", "痛点", "竞品", "技术栈", "架构", "risiken", "annahmen", "ziele", "fragen", "risques", "hypothèses", "objectifs", "riesgos", "supuestos", "objetivos", "preguntas", "riscos", "premissas", "perguntas",
		"リスク", "前提条件", "目標", "課題", "위험", "가정", "목표", "질문",
	}
	// omitted adds to the names of omissions those of deltas and of later releases.
	omitted = append([]string{
		"removed requirements", "removed", "=deferred", "deferred requirements", "deferred stories", "=superseded", "=deprecated", "future enhancements", "=not included", "=excluded", "=excludes", "explicitly excluded", "=parking lot", "post-mvp", "=icebox", "=won t",
		"未来增强", "=不包含", "=已删除", "已移除", "außerhalb", "nicht im umfang", "nicht-ziele", "nichtziele", "abgrenzungskriterien", "hors périmètre", "hors scope", "hors-périmètre", "non objectifs", "fuera de alcance", "fuera del alcance", "fora do escopo", "fora de escopo",
		"対象外", "対象にしない", "やらないこと", "スコープ外", "範囲外", "범위 외", "범위 밖", "제외",
	}, markdown.Omissions...)
)

// textColumns name a column with the text of a requirement, otherColumns one about something else.
var (
	textColumns = []string{"requirement", "requirements", "description", "story", "user story", "criterion", "criteria", "acceptance", "feature", "function", "functionality", "title", "name", "text", "statement", "specification", "as a", "i want", "details", "scenario", "given", "then", "expected",
		"需求", "描述", "内容", "故事", "标准", "功能", "名称", "说明", "标题", "场景", "anforderung", "beschreibung", "titel", "kriterium", "inhalt", "exigence", "description", "besoin", "titre", "libellé", "critère", "descripción", "requisito", "requerimiento", "nombre", "título", "historia", "descrição", "nome", "critério", "história",
		"要件", "説明", "機能", "요구사항", "설명", "기능", "내용", "требование", "описание"}
	otherColumns = []string{"risk", "impact", "mitigation", "likelihood", "covered by", "coverage", "traced to", "sprint", "sprint stories", "component", "where", "met in", "test", "tests", "test case", "task", "endpoint", "question", "decision", "persona", "goal", "metric", "target", "epic", "epics", "depends on", "version", "date", "author", "owner", "file",
		"组件", "模块", "对应需求", "冲刺", "迭代", "覆盖", "位置", "风险", "影响", "指标", "任务", "日期", "版本", "risiko", "risque", "riesgo", "risco"}
)

// strongFamilies are the letters of requirements, stories and criteria; others have to recur.
var strongFamilies = words(`AC FR US NFR SC REQ RQ RF RNF CA HU UC BR CR TR UR SR NFA FA LF EF ENF RN AS QR IR UXR FUNC NF`)

// criterionFamilies are the letters of criteria, which are numbered again below each story; storyFamilies those of stories.
var (
	criterionFamilies = words("AC CA AK AS SCN CRIT")
	storyFamilies     = words("US HU STORY ST")
	epicFamilies      = words("EPIC EP E")
	// vagueFamilies are letters that number other things, too; they count where requirements are listed.
	vagueFamilies = words("P Q H V S T M D G A E O C K W N L I X Y Z TASK GOAL OBJ KPI PH ADR DR D OQ RISK RK BG SM TC TEST BUG")
	// foreignFamilies number other things only.
	foreignFamilies = words("HTTP HTTPS ISO RFC UTF SHA MD AES TLS SSL API IEEE DIN EN ANSI CVE COVID MP IPV WCAG PHASE STEP SPRINT ITERATION WEEK MONTH DAY YEAR VERSION NODE JAVA PYTHON LEVEL TIER GPT RGB USD EUR RMB MVP EC CO WIN CHAPTER SECTION PART FIGURE TABLE NOTE OPTION QUARTER MILESTONE")
	wordNumbers     = map[string]bool{"story": true, "epic": true, "scenario": true, "requirement": true, "feature": true, "step": true, "phase": true, "task": true, "version": true, "sprint": true, "us": false}
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// stem returns the letters of a family before the first hyphen: "FR" of "FR-PAY".
func stem(family string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(family, "_", "-"), "-")
	return first
}

// strong reports whether one of the parts of a family are the letters of requirements.
func strong(family string) bool {
	for part := range strings.FieldsFuncSeq(family, func(r rune) bool { return r == '-' || r == '_' }) {
		if strongFamilies[part] {
			return true
		}
	}
	return family != "" && family[0] >= 0x80
}

// number is a number behind a word: "1", "1.2", "R.0", "A1".
const number = `([A-Za-z]?[.-]?\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)`

var (
	storyWord       = pattern.New(`(?i)^(user[ -]?stor(?:y|ies)|story|用户故事|故事|用戶故事|使用者故事|benutzergeschichte|anwendergeschichte|récit(?: utilisateur)?|histoire(?: utilisateur)?|historia(?: de usuario)?|história(?: de usuário| do usuário)?|ユーザーストーリー|ストーリー|사용자 스토리|스토리)\s*[#:]?\s*` + number + `(?:[^\w.]|\.?$|\.\D)`)
	epicWord        = pattern.New(`(?i)^(epic|史诗|epos|épica|épico|epica|epico|エピック|에픽)\s*[#:]?\s*` + number + `(?:[^\w.]|\.?$|\.\D)`)
	requirementWord = pattern.New(`(?i)^(requirement|需求|anforderung|exigence|requisito|requerimiento|要件|要求|요구사항|требование)\s*[#]?\s*` + number + `(?:[^\w.]|\.?$|\.\D)`)
	featureWord     = pattern.New(`(?i)^(feature|use case|功能|用例|funktion|fonctionnalité|cas d'utilisation|caso de uso|función|funcionalidade|anwendungsfall)\s*[#:]?\s*` + number + `(?:[^\w.]|\.?$|\.\D)`)
	requirementName = pattern.New(`(?i)^(?:requirement|需求|anforderung|exigence|requisito|要件|요구사항|rule)\s*[:：]\s*(\S.*)$`)
	storyName       = pattern.New(`(?i)^(?:user[ -]?story|story|用户故事|historia de usuario|história de usuário|ユーザーストーリー|사용자 스토리)\s*:\s*\S`)
	gherkinFeature  = pattern.New(`(?i)^(?:feature|功能|funktionalität|fonctionnalité|característica|funcionalidade|機能|기능)\s*[:：]\s*(\S.*)$`)
	backgroundWord  = pattern.New(`(?i)^(?:background|背景|grundlage|hintergrund|contexte|antecedentes|contexto|배경)\s*[:：]`)
	scenarioWord    = pattern.New(`(?i)^(?:acceptance |验收)?(?:scenario(?: outline| template)?|场景(?:大纲)?|場景|剧本|szenario(?:grundriss)?|scénario|plan du scénario|escenario|esquema del escenario|cenário|esquema do cenário|シナリオ|시나리오)\s*(\d{1,3}(?:\.\d{1,3})?)?\s*(?:[:：.—–-]\s*(.*)|$)`)
	criterionWord   = pattern.New(`(?i)^(?:acceptance criterion|criterion|验收标准|验收条件|akzeptanzkriterium|critère|criterio|critério|受け入れ基準)\s*#?(\d{1,3}(?:\.\d{1,3})?)\s*(?:[:：.—–-]|$)`)
	givenWord       = pattern.New(`(?i)^(?:given|假如|假设|假定|给定|前提|已知|angenommen|gegeben(?: sei)?|étant donnée?s?(?: que)?|etant donnée?s?|soit|dad[oa]s?(?: que)?|前提|먼저|주어진|дано)(?:[^\pL]|$|[\p{Han}])`)
	stepWord        = pattern.New(`(?i)^(?:when|then|and|but|or|当|那么|则|而且|并且|同时|且|但是|wenn|dann|und|aber|quand|lorsque?|alors|et|mais|cuando|entonces|y|pero|quando|então|entao|e|mas|もし|ならば|かつ|しかし|만일|만약|그러면|그리고|когда|тогда|и)(?:[^\pL]|$|[\p{Han}])`)
	thenWord        = pattern.New(`(?i)(?:^|[^\pL])(?:then|shall|should|must|dann|alors|entonces|então|entao)(?:[^\pL]|$)|那么|则|应|ならば|しなければ|그러면|해야`)
	// endLabel is a label behind a list of criteria that is none of its parts.
	endLabel = pattern.New(`(?i)^(?:technical|tech |implementation|dev(?:eloper)? notes|notes?\b|dependenc|prerequisites?|refs?\b|references|tasks?\b|subtasks|definition of|dod\b|estimate|story points|points|priority|size\b|effort|complexity|risks?\b|out of scope|assumptions|test(?:s|ing)?\b|covers|covered|fr coverage|requirements|user story|story\b|as an?\b|business|value|related|design|ux notes|ui notes|files|outcome|status|owner|技术|实现|备注|说明|注意|依赖|前置|任务|完成定义|估算|优先级|故事点|风险|测试|参考|涉及|technische|technologie|hinweis|notiz|abhängig|aufgaben|schätzung|priorität|risik|notes? techniques|dépendances|tâches|estimation|priorité|risques|notas|dependencias|tareas|estimación|prioridad|riesgos|dependências|tarefas|estimativa|prioridade|riscos|技術|依存|備考|優先|タスク|기술|의존|참고|우선|작업)`)
	// deferredText begins the text of an id that is not to be built.
	deferredText = pattern.New(`(?i)^[\s*_:：.(（\[【—–-]*(?:deferred|removed|deprecated|withdrawn|obsolete|dropped|superseded|cancelled|out of scope|not in scope|已删除|已移除|已废弃|废弃|已取消|暂缓|延期|不做|entfällt|gestrichen|supprimé|eliminado|removido)(?:[^\pL]|$)|[\[(（【](?i:deferred|removed|deprecated|withdrawn|已删除|已移除|已废弃|暂缓)[\])）】]|^[\s*_:：.—–-]*~~`)
	// listed matches the text behind the first id of a list or range of ids.
	listed = pattern.New(`(?i)^[*_\x60\s)\]]*(?:(?:,|、|，|;|/|&|\+|and|or|to|through|thru|until|和|及|与|至|到|~|\.{2,3}|…|-)[*_\x60\s(\[]*(?:[A-Za-z]{1,6}[A-Za-z0-9-]{0,12}?[-_ ]?\d|\d{1,4}\b\s*(?:[,、，)\]]|$|and\b|to\b)))`)
)
