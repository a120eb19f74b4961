/** Service keys: the list, and creation (K5). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Failure, Filters, List, Pages, readForm, toOptions, useAct } from './parts.js';
import { fromField, Time } from './times.js';
import { NewToken } from './token.js';
import { html, useRef, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListKeysResult} KeyList */
/** @typedef {import('../../../clients/typescript/operations.ts').ServiceKey} Key */

const rows = 50;
const scopes = (document.body.dataset['scopes'] ?? '').split(' ');

/** @type {readonly import('./parts.js').Field[]} */
const fields = [{ name: 'account_id', label: 'Account id', type: 'number' }];

/** @type {readonly import('./parts.js').Column<Key>[]} */
const columns = [
  { title: 'Name', show: (key) => html`<${Link} href=${`${root}/keys/${key.id}`}>${key.name}<//>` },
  { title: 'State', show: (key) => html`<${KeyState} keyFacts=${key} />` },
  { title: 'Account', show: ({ account }) => html`${account.email} <small>${account.id}</small>` },
  { title: 'Scopes', wide: true, show: (key) => key.scopes.join(', ') },
  { title: 'Last used', show: (key) => html`<${Time} at=${key.last_used_at} />` },
  { title: 'Created', show: (key) => html`<${Time} at=${key.created_at} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function KeysPage({ query }) {
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState('');
  const offset = Number(query.get('offset') ?? 0);
  const account = query.get('account_id') ?? undefined;
  /** @type {import('./live.js').Live<KeyList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/v1/keys', { query: { account_id: account, limit: rows, offset }, signal }),
  );
  const { data } = live;
  /**
   * @param {string} made token, shown even when the dialog was closed before the response, because it cannot be read
   * again
   */
  const showToken = (made) => {
    setToken(made);
    setCreating(false);
    live.refresh();
  };
  const next =
    data !== undefined && offset + data.items.length < data.count ? String(offset + data.items.length) : null;
  return html`<${Heading} title="Keys"><${Freshness} live=${live} /><//>
    <p><button type="button" onClick=${() => setCreating(true)}>Create key</button></p>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      data === undefined
        ? null
        : html`<p class="faint">${data.count === 1 ? '1 key' : `${data.count} keys`}</p>
            <${List}
              title="Service keys"
              columns=${columns}
              items=${data.items}
              id=${idOf}
              empty="No service keys. Create a key to give a program access."
            />
            <${Pages} query=${query} name="offset" next=${next} />
            <${Command}
              words=${['keys', 'list', ...toOptions({ account, limit: String(rows), cursor: String(offset) })]}
            />`
    }
    ${isCreating ? html`<${NewKey} onClose=${() => setCreating(false)} onCreated=${showToken} />` : null}
    ${token === '' ? null : html`<${NewToken} title="New key" token=${token} onClose=${() => setToken('')} />`}`;
}

/** @param {{ onClose: () => void, onCreated: (token: string) => void }} properties */
function NewKey({ onClose, onCreated }) {
  const form = /** @type {{ current: HTMLFormElement | null }} */ (useRef(null));
  const [words, setWords] = useState(/** @type {readonly string[] | undefined} */ (undefined));
  const { busy, failure, run } = useAct(async () => {
    const { name, scopes: chosen, account, expires } = readRequest(form.current);
    const made = await call('POST', '/v1/keys', {
      body: {
        name,
        scopes: chosen,
        ...(account === '' ? {} : { account_id: Number(account) }),
        ...(expires === '' ? {} : { expires_at: expires }),
      },
    });
    onCreated(made.token);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    void run();
  };
  return html`<${Dialog} title="Create key" onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} onInput=${() => setWords(toCommand(readRequest(form.current)))}>
      <p class="field">
        <label for="key-name">Name</label><input id="key-name" name="name" required maxlength="200" />
      </p>
      <fieldset>
        <legend>Scopes</legend>
        ${['*', ...scopes].map(
          (scope) =>
            html`<label class="choice"
              ><input type="checkbox" name="scope" value=${scope} /> ${scope === '*' ? '* (all)' : scope}</label
            >`,
        )}
      </fieldset>
      <p class="field">
        <label for="key-account">Account id (optional; default: your account)</label>
        <input id="key-account" name="account_id" inputmode="numeric" pattern="[0-9]*" />
      </p>
      <p class="field">
        <label for="key-expires">Expires (optional)</label
        ><input id="key-expires" name="expires_at" type="datetime-local" step="1" />
      </p>
      <${Failure} failure=${failure} />
      <p class="buttons">
        <button type="submit" aria-disabled=${String(busy)}>Create key</button>
        <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
      </p>
    </form>
    <${Command} words=${words} />
  <//>`;
}

/** @param {HTMLFormElement | null} form */
function readRequest(form) {
  const values = readForm(form);
  const [name, account] = [values.text('name'), values.text('account_id').trim()];
  return { name, scopes: values.texts('scope'), account, expires: fromField(values.text('expires_at')) };
}

/**
 * Returns the equivalent CLI command once name, scopes and account are set: the admin CLI has no default account.
 * @param {ReturnType<typeof readRequest>} values
 */
function toCommand({ name, scopes: chosen, account, expires }) {
  if (name === '' || chosen.length === 0 || account === '') return undefined;
  return ['keys', 'create', ...toOptions({ account, name, 'expires-at': expires }), '--scope', ...chosen];
}

/** @param {{ keyFacts: Key }} properties */
export function KeyState({ keyFacts: { revoked_at: revoked, expires_at: expires, rotating_until: rotating } }) {
  if (revoked !== null) return html`<span class="mark">revoked</span>`;
  if (expires !== null && Date.parse(expires) <= Date.now()) return html`<span class="mark">expired</span>`;
  if (rotating !== null && Date.parse(rotating) > Date.now()) return html`<span class="mark good">rotating</span>`;
  return html`<span class="mark good">in use</span>`;
}

/** @param {Key} key */
function idOf({ id }) {
  return id;
}
