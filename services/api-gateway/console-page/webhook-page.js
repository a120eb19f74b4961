/** One inbound webhook, with its body as received (P4). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Json } from './job-page.js';
import { toFigure } from './language.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Facts, Failure, useAct } from './parts.js';
import { Time } from './times.js';
import { html, useState } from './ui.js';
import { Outcome, replay, WebhookSubject } from './webhooks-page.js';

/** @typedef {import('../../../clients/typescript/operations.ts').GetWebhookResult} Webhook */

/** @param {import('./pages.js').PageProperties} properties */
export function WebhookPage({ names: [id = ''] }) {
  const [isReplaying, setReplaying] = useState(false);
  const path = `/ops/webhooks/${encodeURIComponent(id)}`;
  /** @type {import('./live.js').Live<Webhook>} */
  const live = useLive(path, (signal) => call('GET', path, { signal }));
  const webhook = live.data;
  return html`<${Heading} title=${webhook === undefined ? `Webhook ${id}` : `${webhook.kind} ${webhook.id}`}
      ><${Freshness} live=${live}
    /><//>
    <p><${Link} href=${`${root}/webhooks`}>All webhooks<//></p>
    <${Trouble} live=${live} />
    ${
      webhook === undefined
        ? null
        : html`<${Facts} facts=${describe(webhook)} />
            ${
              webhook.body === null
                ? html`<p class="faint">The body was not stored. The webhook cannot be replayed.</p>`
                : html`<p><button type="button" onClick=${() => setReplaying(true)}>Replay</button></p>`
            }
            <h2>Headers</h2>
            <${Json} title="Headers" value=${webhook.headers} />
            ${
              webhook.body === null
                ? null
                : html`<h2>Body</h2>
                    <${Body} body=${webhook.body} />`
            }`
    }
    <${Command} words=${['webhooks', 'show', id]} />
    ${isReplaying ? html`<${ReplayDialog} id=${id} onClose=${() => setReplaying(false)} onDone=${live.refresh} />` : null}`;
}

/** @param {Webhook} webhook @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe(webhook) {
  return [
    ['Outcome', html`<${Outcome} outcome=${webhook.outcome} />`],
    ['Result', webhook.message ?? '–'],
    ['Event', webhook.event ?? '–'],
    ['Subject', html`<${WebhookSubject} webhook=${webhook} />`],
    ['Received', html`<${Time} at=${webhook.received_at} />`],
    ['Processed', html`<${Time} at=${webhook.processed_at} none="not yet" />`],
    ['Deliveries', webhook.deliveries],
    ['Size', webhook.body_size === null ? '–' : `${toFigure(webhook.body_size)} bytes`],
    ['Digest', html`<code>${webhook.body_digest ?? '–'}</code>`],
  ];
}

/** Shows the body as received; JSON is formatted. @param {{ body: string }} properties */
function Body({ body }) {
  try {
    return html`<${Json} title="Body" value=${JSON.parse(body)} />`;
  } catch {
    return html`<pre class="json" tabindex="0" aria-label="Body"><code>${body}</code></pre>`;
  }
}

/** @param {{ id: string, onClose: () => void, onDone: () => void }} properties */
function ReplayDialog({ id, onClose, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    await call('POST', '/ops/webhooks/replay', { body: { ids: [Number(id)] } });
    onDone();
    onClose();
  });
  return html`<${Dialog} title="Replay this webhook?" onClose=${onClose}>
    <p>${replay.explanation}</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>Replay</button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command} words=${['webhooks', 'replay', id]} />
  <//>`;
}
