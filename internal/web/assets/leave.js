// Takes a run back to an earlier stage, or ends it, on the person's word.
import { local } from './live.js';
import { Words } from './words.js';

const form = document.getElementById('leaves');
const left = document.getElementById('left');
let sure = '', words;

function told(texts, pair) {
  left.replaceChildren(...texts.filter(Boolean).map((text) => { const p = document.createElement('p'); p.textContent = local(text); return p; }));
  if (pair) {
    const link = document.createElement('a');
    link.href = `/pair?back=${encodeURIComponent(location.pathname)}`;
    link.textContent = form.dataset.pair;
    left.append(link);
  }
  left.focus();
}

async function leave(decision) {
  const feedback = form.elements.feedback.value.trim();
  if (decision === 'reopen' && !feedback) { told([form.dataset.needs]); form.elements.feedback.focus(); return; }
  if (decision === 'cancel' && sure !== decision) { sure = decision; told([form.dataset.sure]); return; }
  const body = { decision, feedback, revision: Number(form.dataset.revision), nonce: form.dataset.nonce };
  if (decision === 'reopen') body.stage = form.elements.stage.value;
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.getItem('bmad-key') ?? ''}` };
  const answer = await fetch(form.dataset.href, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
  const said = await answer?.json().catch(() => ({})) ?? {};
  if (answer?.ok) { words.sent(); location.reload(); return; }
  told(answer ? [said.error, said.hint] : [form.dataset.unreachable], answer?.status === 401);
}

if (form) {
  form.hidden = false;
  words = new Words(form.dataset.href);
  words.fields(form.querySelectorAll('textarea'));
  for (const button of form.querySelectorAll('[data-decision]')) button.addEventListener('click', () => leave(button.dataset.decision));
}
