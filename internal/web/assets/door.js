// The door: exchanges the secret of the address for the right to read, and a code for the right
// to decide. The key stays in the storage of this origin.
const post = (path, body) => fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }).catch(() => null);
const said = async (answer) => (await answer?.json().catch(() => null)) ?? {};
const tell = (text) => { const place = document.getElementById('door-says'); if (place) place.textContent = text; };

async function enter() {
  const given = new URLSearchParams(location.hash.slice(1));
  const here = location.pathname + location.search;
  const closed = document.body.dataset.screen === 'door';
  history.replaceState(null, '', here);
  const answer = await post('/enter', { secret: given.get('k') ?? '' });
  if (!answer?.ok) {
    const { error, hint } = await said(answer);
    if (given.has('k')) tell([error, hint].filter(Boolean).join('. '));
    return;
  }
  if (given.has('p')) {
    const { key, error, hint } = await said(await post('/pair/launch', { launch: given.get('p') }));
    if (key) localStorage.setItem('bmad-key', key);
    else if (!localStorage.getItem('bmad-key')) sessionStorage.setItem('bmad-refused', [error, hint].filter(Boolean).join('. '));
  }
  // A link of another site opens the page without the cookie; from here it is sent, once.
  const tried = sessionStorage.getItem('bmad-entered') === here;
  sessionStorage.setItem('bmad-entered', here);
  if (closed && (given.has('k') || !tried)) location.replace(here);
}

async function pair(box) {
  for (;;) {
    const answer = await post('/pair/claim', { code: box.dataset.code });
    const { key, error, hint } = await said(answer);
    if (key) {
      localStorage.setItem('bmad-key', key);
      location.replace(box.dataset.back);
      return;
    }
    if (answer && !answer.ok) { tell([error, hint].filter(Boolean).join('. ')); return; }
    tell(answer ? box.dataset.waits : box.dataset.unreachable);
    await new Promise((again) => setTimeout(again, 1000));
  }
}

const box = document.querySelector('[data-code]');
if (box) pair(box);
else {
  addEventListener('hashchange', () => { if (location.hash.startsWith('#k=')) enter(); });
  enter();
}
