/** One service key: its details, rotation and revocation (K5). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { KeyState } from './keys-page.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Facts, Failure, useAct } from './parts.js';
import { Time } from './times.js';
import { NewToken } from './token.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ServiceKey} Key */
/** @typedef {import('../../../clients/typescript/operations.ts').RevokeKeyResult['webhook_endpoints']} Endpoints */

/** @param {import('./pages.js').PageProperties} properties */
export function KeyPage({ names: [id = ''] }) {
  const [dialog, setDialog] = useState(/** @type {'' | 'rotate' | 'revoke'} */ (''));
  const [token, setToken] = useState('');
  const [created, setCreated] = useState(/** @type {Endpoints} */ ([]));
  const path = `/v1/keys/${encodeURIComponent(id)}`;
  /** @type {import('./live.js').Live<{ key: Key }>} */
  const live = useLive(id, (signal) => call('GET', path, { signal }));
  const key = live.data?.key;
  const close = () => setDialog('');
  /** @param {string} made shown even when the dialog was closed before the response */
  const showToken = (made) => {
    setToken(made);
    close();
    live.refresh();
  };
  /**
   * @param {Endpoints} endpoints created by the revoked key; shown even when the dialog was closed before the response
   */
  const finish = (endpoints) => {
    setCreated(endpoints);
    close();
    live.refresh();
  };
  return html`<${Heading} title=${key === undefined ? `Key ${id}` : key.name}><${Freshness} live=${live} /><//>
    <p><${Link} href=${`${root}/keys`}>All keys<//></p>
    <${Trouble} live=${live} />
    ${
      key === undefined
        ? null
        : html`<${Facts} facts=${describe(key)} /> ${
              key.revoked_at === null
                ? html`<p class="buttons">
                    <button type="button" onClick=${() => setDialog('rotate')}>Rotate</button>
                    <button type="button" class="danger" onClick=${() => setDialog('revoke')}>Revoke</button>
                  </p>`
                : null
            } <${Command} words=${['keys', 'show', id]} />`
    }
    ${dialog === 'rotate' ? html`<${Rotate} path=${path} id=${id} onClose=${close} onCreated=${showToken} />` : null}
    ${token === '' ? null : html`<${NewToken} title="New token" token=${token} onClose=${() => setToken('')} />`}
    ${dialog === 'revoke' ? html`<${Revoke} path=${path} id=${id} name=${key?.name ?? id} onClose=${close} onDone=${finish} />` : null}
    ${
      created?.length === 0
        ? null
        : html`<${CreatedEndpoints} name=${key?.name ?? id} endpoints=${created} onClose=${() => setCreated([])} />`
    }`;
}

/** @param {Key} key @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe(key) {
  const { account_id: creator, key_id: creatorKey } = key.created_by;
  return [
    ['State', html`<${KeyState} keyFacts=${key} />`],
    ['Id', html`<code>${key.id}</code>`],
    ['Acts as', `${key.account.email} (account ${key.account.id})`],
    ['Scopes', key.scopes.join(', ')],
    ['Last used', html`<${Time} at=${key.last_used_at} />`],
    ['Expires', html`<${Time} at=${key.expires_at} />`],
    ['Old secret until', html`<${Time} at=${key.rotating_until} none="–" />`],
    ['Revoked', html`<${Time} at=${key.revoked_at} />`],
    ['Created', html`<${Time} at=${key.created_at} />`],
    [
      'Created by',
      creator === null ? 'the admin CLI' : `account ${creator}${creatorKey === null ? '' : ` with key ${creatorKey}`}`,
    ],
  ];
}

const overlaps = /** @type {const} */ ([
  ['0', 'none'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '1 week'],
]);

/** @param {{ path: string, id: string, onClose: () => void, onCreated: (token: string) => void }} properties */
function Rotate({ path, id, onClose, onCreated }) {
  const [overlap, setOverlap] = useState('86400');
  const { busy, failure, run } = useAct(async () => {
    const rotated = await call('POST', `${path}/rotate`, { body: { overlap_seconds: Number(overlap) } });
    onCreated(rotated.token);
  });
  return html`<${Dialog} title="Rotate this key?" onClose=${onClose}>
    <p>The key gets a new secret. Its name and scopes do not change.</p>
    <p class="field">
      <label for="overlap">Overlap with the old secret</label>
      <select
        id="overlap"
        onChange=${(/** @type {Event} */ event) => setOverlap(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
      >
        ${overlaps.map(([value, label]) => html`<option value=${value} selected=${value === overlap}>${label}</option>`)}
      </select>
    </p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>Rotate</button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command} words=${['keys', 'rotate', id, '--overlap-seconds', overlap]} />
  <//>`;
}

/**
 * @param {{ path: string, id: string, name: string, onClose: () => void, onDone: (endpoints: Endpoints) => void }}
 * properties
 */
function Revoke({ path, id, name, onClose, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    /** @type {{ webhook_endpoints: Endpoints }} */
    const revoked = await call('POST', `${path}/revoke`, { body: {} });
    onDone(revoked.webhook_endpoints);
  });
  return html`<${Dialog} title=${`Revoke ${name}?`} onClose=${onClose}>
    <p>The key stops working immediately. This cannot be undone.</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" class="danger" aria-disabled=${String(busy)} onClick=${run}>Revoke</button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command} words=${['keys', 'revoke', id, '--yes']} />
  <//>`;
}

/** @param {{ name: string, endpoints: Endpoints, onClose: () => void }} properties */
function CreatedEndpoints({ name, endpoints, onClose }) {
  return html`<${Dialog} title=${`${name} is revoked`} onClose=${onClose}>
    ${
      endpoints === null
        ? html`<p>
            Its webhook endpoints could not be listed. Check <${Link} href=${`${root}/endpoints`}>all endpoints<//>.
          </p>`
        : html`<p>Webhook endpoints created by this key remain active:</p>
            <ul>
              ${endpoints.map(
                ({ id, url_host: host, description, disabled }) =>
                  html`<li>
                    <${Link} href=${`${root}/endpoints/${id}`}>Endpoint ${id}<//>:
                    ${host}${description === '' ? '' : `, ${description}`}${disabled ? ' (disabled)' : ''}
                  </li>`,
              )}
            </ul>`
    }
    <p class="buttons"><button type="button" onClick=${onClose}>Close</button></p>
  <//>`;
}
