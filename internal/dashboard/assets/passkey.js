// Passkeys: has decisions signed, and makes new passkeys. The words come from the page.
export const usable = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.getItem('bmad-key') ?? ''}` },
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  throw new Error([said.error, said.hint].filter(Boolean).join('. '));
}

async function get(options) {
  const made = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  return made.toJSON();
}

async function create(options) {
  const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  return made.toJSON();
}

// Returns the signature of a decision, which goes with it as its passkey.
export const sign = async (path, decision) => get(await post(path, decision));

// Adds a passkey. One that is in use has to allow it; before the first, waits is told the code that
// the person types at a terminal.
export async function enrol(name, waits) {
  let begun = await post('/passkeys/begin', {});
  while (begun.code) {
    waits(begun.code);
    await new Promise((again) => setTimeout(again, 1000));
    begun = await post('/passkeys/begin', { code: begun.code });
  }
  const assertion = begun.assert ? await get(begun.assert) : null;
  return post('/passkeys/finish', { ticket: begun.ticket, name, assertion, response: await create(begun.create) });
}

// A form with data-passkeys adds one; what happens is told in its output.
const form = document.querySelector('form[data-passkeys]');
if (form) {
  const says = form.querySelector('output');
  form.hidden = !usable;
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      const added = await enrol(form.elements.name.value, (code) => { says.textContent = form.dataset.waits.replace('{}', code); });
      says.textContent = form.dataset.added.replace('{}', added.name);
      document.dispatchEvent(new CustomEvent('passkey', { detail: added }));
    } catch (e) {
      // The browser's own errors are for programmers: the person has stopped it, or has no authenticator.
      says.textContent = e instanceof DOMException ? form.dataset.stopped : e.message;
    }
    button.disabled = false;
  });
}
