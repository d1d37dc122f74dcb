package audit

import "testing"

// TestSubjectOf: an objective that points at an issue, a file or a document says nothing about the subject.
func TestSubjectOf(t *testing.T) {
	for _, points := range []string{
		"", "Build it", "continue", "Continue with the project", "please continue where we stopped", "resume", "go on with the next story",
		"implement issue #42", "Implement #42", "fix issue 42", "fix the bug", "Fix GH-17 and ABC-123", "resolve https://example.com/acme/shop/issues/42", "close acme/shop#42",
		"build what the document says", "Build what docs/prd.md describes", "implement the PRD in docs/prd.md", "implement the PRD", "implement the spec as discussed",
		"work on TASKS.md", "Implement @docs/stories/1.2.story.md", "refactor src/server/handler.go", "implement specs/001-login/spec.md", "do the rest of the backlog",
		"make a plan and build the first release", "make an MVP", "Plan the next sprint", "complete the existing application", "Fix all of the tests",
		"继续", "继续这个项目", "实现 #42", "实现需求文档", "按照 docs/prd.md 实现", "根据附件完成开发", "修复 issue 42", "制定计划并构建第一个版本", "把 PRD 里的内容做出来", "继续上次的工作", "修复缺陷",
		"Mach mit dem Projekt weiter", "Setze das Projekt fort", "Implementiere das Lastenheft", "Baue, was im Dokument steht", "Behebe Fehler #42",
		"Continue le projet", "Implémente le cahier des charges", "Corriger le ticket #42", "Continúa con el proyecto", "Implementa el documento docs/prd.md", "Corrige la incidencia 42",
		"Continue o projeto", "Implemente o documento de requisitos", "Continua il progetto", "Implementa le specifiche", "Ga verder met het project",
		"プロジェクトを続けてください", "仕様書に従って実装してください", "#42 を修正", "프로젝트를 계속 진행해줘", "문서대로 구현해줘", "이슈 #42 수정",
	} {
		if got := subjectOf(points); got != "" {
			t.Errorf("%q says %q", points, got)
		}
	}
	for _, says := range []string{
		"Patients of a clinic book appointments online", "a chess engine", "Build a chat in Node.js", "sell train tickets", "implement issue #42: passkeys for members who forgot passwords",
		"Build the clinic's calendar that docs/prd.md describes, with reminders by mail", "开发订阅计费系统", "为葡萄园安装滴灌阀门和湿度传感器", "按照文档开发葡萄园的滴灌控制系统",
		"Eine Bewässerung für Weinberge", "un journal de jardinage", "una tienda de flores", "予約システムの画面", "도서관 좌석 예약 시스템",
	} {
		if subjectOf(says) == "" {
			t.Errorf("%q is taken for one that only points", says)
		}
	}
}
