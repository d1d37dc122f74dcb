// Passkeys: has decisions signed, and makes new passkeys. The words come from the page.
export const usable = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.getItem('bmad-key') ?? ''}` },
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const refused = new Error([said.error, said.hint].filter(Boolean).join('. '));
  refused.code = said.code;
  throw refused;
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

// The enrolment that code allows, once it was typed at a terminal.
async function begin(code, waits) {
  for (;;) {
    try {
      return await post('/passkeys/begin', { code });
    } catch (e) {
      if (e.code !== 'gate_pending') throw e;
      waits(e.message);
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
}

// Adds a passkey, which one that is in use has to allow.
export async function enrol(name, code, waits) {
  const { ticket, create: options, assert } = await begin(code, waits);
  const assertion = assert ? await get(assert) : null;
  return post('/passkeys/finish', { ticket, name, assertion, response: await create(options) });
}

// A form with data-passkeys adds one; what happens is told in its output.
const form = document.querySelector('form[data-passkeys]');
if (form) {
  const says = form.querySelector('output');
  form.hidden = !usable;
  says.textContent = sessionStorage.getItem('bmad-added') ?? '';
  sessionStorage.removeItem('bmad-added');
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      const added = await enrol(form.elements.name.value, form.dataset.code ?? '', (text) => { says.textContent = text; });
      sessionStorage.setItem('bmad-added', form.dataset.added.replace('{}', added.name));
      location.reload();
    } catch (e) {
      // The browser's own errors are for programmers: the person has stopped it, or has no authenticator.
      says.textContent = e instanceof DOMException ? form.dataset.stopped : e.message;
    }
    button.disabled = false;
  });
}
