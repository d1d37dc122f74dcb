package memory

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// What a note says to a model that reads it, rather than about the work. Words are compared without
// accents and in lower case; where letters can be spread out, without spaces.
var (
	// orders dismiss what the model was told: on the text without spaces.
	orders = pattern.New(`(?:ignor(?:e|ez|er|ing)|disregard|forget|overrid(?:e|ing)|bypass|neglect|discard|oubli(?:e|ez|er)|ne(?:tiens|tenez)pascompte(?:de)?)` +
		`(?:all|any|of|the|these|those|this|my|our|toutes?|tous|les|des|tes|vos|ces|mes|your|every){0,5}` +
		`(?:previous|prior|above|earlier|preceding|foregoing|former|existing|system|developer|initial|original|other|your|precedente?s?|anterieure?s?|initiale?s?|instructions?|consignes?|directives?)` +
		`(?:system|developer|and|or|et|ou)?` +
		`(?:instructions?|prompts?|rules?|guidelines?|messages?|directi(?:on|ve)s?|orders?|context|commands?|constraints?|training|consignes?|regles?|precedente?s?|anterieure?s?|initiale?s?|cidessus|donneesavant|above|before)` +
		`|(?:ignore|disregard|forget)(?:everything|anything|all|whatever)(?:that)?(?:above|before|you(?:were|have been|ve been|know)|previous|prior)` +
		`|oublie[zr]?tout(?:ce(?:qui|que))?(?:precede|avant|tu|vous)` +
		`|(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不必遵守|不要遵守|跳过|跳過|覆盖|覆蓋)[\p{Han}]{0,4}?(?:之前|以前|以上|上面|上述|先前|前面|此前|所有|全部|任何|系统|系統|你的|原有)[\p{Han}]{0,6}?(?:指令|指示|提示|规则|規則|要求|命令|约束|約束|设定|設定|对话|對話)`)
	// roles make the model someone else, or keep the person out: on words.
	roles = pattern.New(`(?: (?:you are now|you re now|from now on you|your new (?:instructions?|role|task|goal) (?:is|are)|new (?:system )?instructions? (?:for|to) (?:the )?(?:ai|assistant|model|agent|claude)|pretend (?:to be|you are)|act as (?:if you|an? (?:unrestricted|admin|root|system))|jailbreak|developer mode enabled` +
		`|(?:reveal|print|show|repeat|leak|output) (?:me )?(?:your|the) (?:full |hidden |initial )?(?:system )?(?:prompt|instructions)` +
		`|(?:do not|don t|never|without) (?:tell|telling|ask|asking|inform|informing|mention|mentioning|notify|notifying|show|showing)(?: (?:this|it))?(?: to)? (?:the )?(?:user|human|person|people|owner|operator)` +
		`|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|a partir de maintenant (?:tu|vous)|(?:sans|ne) (?:demander|prevenir|le dire|dis rien|dites rien|informer)(?: rien)? (?:a l|au|a la|l|la|le) ?(?:utilisateur|humain|personne|client)))` +
		`|(?:你现在是|你現在是|从现在起你|从现在开始你|從現在起你|從現在開始你|现在开始扮演|(?:不要|别|別|无需|無需|不必|切勿)(?:再)?(?:告诉|告訴|询问|詢問|通知|提醒|征求|徵求)(?:给|給)?(?:用户|用戶|使用者|人类|人類|本人|客户|客戶))`)
	// tools are ours, with an imperative before them: on words.
	tools = pattern.New(` (?:call|use|run|invoke|execute|trigger|submit|send|appelle[zr]?|utilise[zr]?|lance[zr]?|execute[zr]?) (?:[\p{L}\p{N}]+ ){0,4}?(?:bmad (?:task|confirm|agent|workflow|resources)|remember structured|recall structured|spawn subagent task|delegate to agent|run completion contract)` +
		`|(?:调用|調用|使用|运行|運行|执行|執行)[\p{Han} ]{0,8}bmad (?:task|confirm|agent|workflow)`)
	// gates are opened by people alone: on sentences.
	gates = pattern.New(` (?:approve|confirm|adopt|accept) (?:all |every |each |any |the |this |these |its |their )+(?:current |next |pending |open |waiting |following |sprint )*(?:gates?|prd|draft|plan|document|architecture|stage|session|submission|finding|risk)s? +(?:\.|now|at|immediately|without|yourself|automatically|silently|for|and|then|so|as|with|before|in|on|directly)` +
		`| (?:skip|open|bypass|pass) (?:all |every |each |any |the |this |these |its |their )+(?:current |next |pending |open |waiting |human |person s )*(?:gate|approval|confirmation)s? ` +
		`| (?:set|with|pass|use|send|and) (?:confirmed|approved)(?: to| as)? true | (?:action|decision) (?:is |to |as )?(?:approve|confirm|adopt) | (?:confirmed|approved) (?:\. )?true ` +
		`| (?:approuve[zr]?|confirme[zr]?|valide[zr]?|accepte[zr]?) (?:toujours |automatiquement |immediatement )?(?:le |la |les |l |ce |cette |tous |toutes )+(?:plan|prd|document|architecture|etape|porte|session|gate|brouillon)s? ` +
		`|(?:请|請|直接|立即|必须|必須|自动|自動|务必|務必|总是|總是|马上|馬上)[\p{Han}]{0,4}?(?:批准|确认|確認|通过|通過|采纳|採納|同意|打开|打開)[\p{Han}]{0,6}?(?:计划|計劃|关卡|關卡|文档|文檔|草稿|阶段|階段|会话|會話|架构|架構|评审|評審|需求)`)
	// marks are those of a conversation with a model: on the plain text in lower case.
	marks = pattern.New(`<\|?/?(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id|begin_of_text)\|?>|</?(?:system|assistant|human|user|instructions?|system[-_ ](?:prompt|reminder|message)|tool_result|function_calls?|function_results?)(?:\s[^>]{0,80})?>|\[/?inst\]|<</?sys>>` +
		`|(?:^|\n)\s*#{1,6}\s*(?:system|new instructions?|instructions? for (?:the )?(?:ai|assistant|model))\s*:?\s*(?:\n|$)|(?:^|\n)\s*(?:assistant|human|system prompt|system message|système)\s*:`)
	encoded = pattern.New(`[A-Za-z0-9+/_-]{200}`)
)

// suspicious reports whether a text addresses the model that reads it, or hides what it says.
func suspicious(text string) bool {
	if strings.ContainsFunc(text, tagCharacter) {
		return true
	}
	plain, _ := plainText(text)
	words, sentences, joined := wordsOf(plain)
	if orders.MatchString(joined) || roles.MatchString(words) || tools.MatchString(words) || gates.MatchString(sentences) || marks.MatchString(strings.ToLower(plain)) {
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
	return suspicious(strings.Join(append([]string{n.Text, n.Agent, n.ID}, n.Tags...), "\n"))
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
