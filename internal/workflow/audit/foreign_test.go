package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// auditOf audits requirements.
func auditOf(t *testing.T, document string) workflow.Audit {
	t.Helper()
	r, err := Load(nil, workflow.Default(), workflow.Default().First())
	if err != nil {
		t.Fatal(err)
	}
	return r.Audit(document, Background{})
}

// has reports whether an audit has a finding.
func has(a workflow.Audit, id string) bool {
	return slices.ContainsFunc(a.Findings, func(f workflow.AuditFinding) bool { return f.ID == id })
}

// TestForeign: in a language that the rules do not know, the audit says so once, for no points, and misses no section.
func TestForeign(t *testing.T) {
	for language, document := range map[string]string{
		"de":               "# Lastenheft\n\n## Funktionale Anforderungen\n\n- Die Mitglieder melden sich mit einem Kennwort an.\n- Das Kennwort wird nach 5 Versuchen gesperrt.\n\n## Termine\n\nDie Abnahme ist im Juni.\n",
		"fr":               "# Cahier des charges\n\n## Exigences fonctionnelles\n\n- Le membre se connecte avec un mot de passe.\n- La session est fermée après 30 minutes.\n",
		"es":               "# Requisitos\n\n## Requisitos funcionales\n\n- El usuario entra con su clave y ve los pedidos del año.\n- La sesión se cierra a los 30 minutos.\n",
		"pt":               "# Requisitos\n\n## Requisitos Funcionais\n\n- O usuário entra com uma senha e vê os pedidos do ano.\n- A sessão não fica aberta por mais de 30 minutos.\n",
		"it":               "# Requisiti\n\n- Il socio accede con la password e vede gli ordini dell'anno.\n- La sessione non resta aperta per più di 30 minuti.\n",
		"nl":               "# Eisen\n\n- Het lid meldt zich aan met een wachtwoord.\n- De sessie wordt na 30 minuten gesloten, ook als er niet is afgemeld.\n",
		"pl":               "# Wymagania\n\n- Użytkownik loguje się za pomocą hasła i widzi zamówienia z roku.\n- Sesja nie jest otwarta przez więcej niż 30 minut, gdy nie ma ruchu.\n",
		"ru":               "# Требования\n\n- Пользователь входит по паролю.\n- Сессия закрывается через 30 минут.\n",
		"ja":               "# 要件定義書\n\n## 機能要件\n\n- 会員はパスワードでログインできる。\n- セッションは30分で終了する。\n",
		"ko":               "# 요구사항\n\n- 회원은 비밀번호로 로그인한다.\n- 세션은 30분 후에 종료된다.\n",
		"ar":               "# المتطلبات\n\n- يسجل العضو الدخول بكلمة المرور.\n",
		"English headings": "# Product Requirements\n\n## Overview\n\nDie Mitglieder melden sich mit einem Kennwort an, und das Kennwort wird nach 5 Versuchen gesperrt.\n\n## Features\n\n- Die Sitzung ist nach 30 Minuten zu Ende.\n",
		"English names":    "# Anforderungen\n\n- Das Frontend ist mit React gebaut, das Backend mit Node, und die Tests laufen in GitHub Actions.\n- Der Login wird mit OAuth gelöst.\n",
	} {
		a := auditOf(t, document)
		n := 0
		for _, f := range a.Findings {
			if f.ID == "LANGUAGE" && f.Asks() && f.Points == 0 {
				n++
			}
			if strings.HasPrefix(f.ID, "NO-") && f.ID != "NO-IDS" {
				t.Errorf("%s: %s: %s", language, f.ID, f.Problem)
			}
		}
		if n != 1 {
			t.Errorf("%s: said %d times", language, n)
		}
	}
	for name, document := range map[string]string{
		"nothing":                    "",
		"a few words":                "# Title\n\nFast.\n",
		"English":                    "# Requirements\n\n- The member signs in with a password.\n- The session ends after 30 minutes.\n",
		"English fragments":          "# PRD\n\n- No login\n- No cart\n- Orders by mail\n- Export as PDF\n",
		"English with German names":  "# Requirements\n\nThe form \"Antrag auf Erteilung der Genehmigung und des Bescheids\" is sent to the office, and the clerk sees it in a list.\n",
		"Chinese":                    "# 需求\n\n- 会员用密码登录。\n- 会话在 30 分钟后结束。\n",
		"traditional Chinese":        "# 需求\n\n- 會員用密碼登入，並查看訂單。\n- 會話在 30 分鐘後結束。\n",
		"Chinese with English":       "# PRD\n\n## Functional Requirements\n\n- FR1: 系统使用 Next.js 与 Supabase Auth 完成登录。\n- FR2: 导出 PDF 和 CSV。\n",
		"Chinese with English prose": "# PRD\n\nThe system shall be built in Go.\n\n- 会员用密码登录，并查看全年的订单。\n",
		"a Japanese name":            "# Requirements\n\nThe shop すし sells to members, and the session of a member ends after 30 minutes.\n",
	} {
		if has(auditOf(t, document), "LANGUAGE") {
			t.Errorf("%s is taken for a foreign language", name)
		}
	}
}

// TestTraditionalNames: sections are known in traditional characters, too.
func TestTraditionalNames(t *testing.T) {
	a := auditOf(t, "# 需求\n\n## 業務目標\n\n減少來電 30 %。\n\n## 風險\n\n無。\n\n## 範圍外\n\n行動支付。\n")
	for _, id := range []string{"NO-GOALS", "NO-RISKS", "NO-SCOPE"} {
		if has(a, id) {
			t.Errorf("%s: %+v", id, a.Findings)
		}
	}
}
