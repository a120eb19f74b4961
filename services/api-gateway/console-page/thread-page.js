/** One chat with an agent: reading, takeover, replying and handing back (H1 to H5). */
import { Heading, Link, root } from './address.js';
import { call, session } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Facts, Failure, List, toOptions, toWords, useAct } from './parts.js';
import { Holder, nameOf } from './threads-page.js';
import { Time } from './times.js';
import { html, useId, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').GetThreadResult} ThreadDetails */
/** @typedef {ThreadDetails['messages'][number]} Message */

const rows = 100;

/**
 * Unsent drafts by thread. They are preserved when messages are loaded or the session ends. @type {Map<string, string>}
 */
const drafts = new Map();

/**
 * All messages are shown as text: HTML in them is not parsed. @type {readonly import('./parts.js').Column<Message>[]}
 */
const columns = [
  { title: 'Time', show: ({ created_at: at }) => html`<${Time} at=${at} />` },
  {
    title: 'Author',
    show: ({ author: { kind, account } }) =>
      html`${kind}${kind === 'operator' ? html`<small>${nameOf(account)}</small>` : null}`,
  },
  { title: 'Message', wide: true, show: ({ body }) => html`<span class="words">${body}</span>` },
  {
    title: 'Delivery',
    show: ({ delivery }) =>
      delivery === null
        ? html`<span class="faint">–</span>`
        : html`<span class=${`mark ${delivery === 'sent' ? 'good' : ''}`}>${delivery}</span>`,
  },
];

/** @param {import('./pages.js').PageProperties} properties */
export function ThreadPage({ names: [id = ''] }) {
  const path = `/ops/threads/${encodeURIComponent(id)}`;
  const [before, setBefore] = useState(/** @type {number | undefined} */ (undefined));
  /** @type {import('./live.js').Live<ThreadDetails>} */
  const live = useLive(`${path} ${before}`, (signal) => call('GET', path, { query: { before, limit: rows }, signal }));
  const { data } = live;
  return html`<${Heading} title=${`Thread ${id}`}><${Freshness} live=${live} /><//>
    <p><${Link} href=${`${root}/threads`}>All threads<//></p>
    <${Trouble} live=${live} />
    ${
      data === undefined
        ? null
        : html`<${Facts} facts=${describe(data.thread)} />
            <${Acts} path=${path} id=${id} isTaken=${data.thread.taken_by !== null} onDone=${live.refresh} />
            <h2>Messages</h2>
            <p class="buttons">
              ${
                data.before === null
                  ? null
                  : html`<button type="button" class="quiet" onClick=${() => setBefore(data.before ?? undefined)}>
                      Earlier messages
                    </button>`
              }
              ${before === undefined ? null : html`<button type="button" class="quiet" onClick=${() => setBefore(undefined)}>Newest messages</button>`}
            </p>
            <${List} title="Messages" columns=${columns} items=${data.messages} id=${idOf} empty="No messages." />
            ${data.thread.taken_by === null ? null : html`<${Write} path=${path} id=${id} isOfCli=${data.thread.taken_by.account === null} onDone=${live.refresh} />`}`
    }
    <${Command}
      words=${['threads', 'show', id, ...toOptions({ limit: String(rows), cursor: before?.toString() })]}
      what="show it"
    />`;
}

/** @param {ThreadDetails['thread']} thread @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe(thread) {
  return [
    ['Agent', thread.agent],
    ['Channel', thread.channel],
    ['Answered by', html`<${Holder} thread=${thread} />`],
    ['Waiting for a reply', thread.waiting ? 'yes' : 'no'],
    ['Started', html`<${Time} at=${thread.created_at} />`],
    ['Last message', html`<${Time} at=${thread.updated_at} />`],
  ];
}

/** @param {{ path: string, id: string, isTaken: boolean, onDone: () => void }} properties */
function Acts({ path, id, isTaken, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `${path}/${isTaken ? 'hand-back' : 'take'}`, { body: {} });
    onDone();
  });
  return html`<p>
      ${
        isTaken
          ? 'The agent is paused. It continues with the full history when you hand the thread back.'
          : 'Take over the thread to answer instead of the agent. The agent pauses until you hand it back.'
      }
    </p>
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>
        ${isTaken ? 'Hand back to the agent' : 'Take over'}
      </button>
    </p>
    <${Failure} failure=${failure} />
    <${Command}
      words=${['threads', isTaken ? 'hand-back' : 'take', id]}
      what=${isTaken ? 'hand it back' : 'take it over'}
    />`;
}

/**
 * The admin CLI can reply only in threads that it has taken over itself. @param {{ path: string, id: string, isOfCli:
 * boolean, onDone: () => void }} properties
 */
function Write({ path, id, isOfCli, onDone }) {
  const field = useId();
  const login = session.use();
  const draft = `${login.is === 'in' ? login.person.id : ''} ${path}`;
  const [text, setText] = useState(drafts.get(draft) ?? '');
  /** @param {string} next */
  const keep = (next) => {
    drafts.set(draft, next);
    setText(next);
  };
  const { busy, failure, run } = useAct(async () => {
    if (text.trim() === '') return;
    await call('POST', `${path}/message`, { body: { body: text } });
    // Clears the draft, unless text was typed while the message was being sent.
    if (drafts.get(draft) === text) keep('');
    onDone();
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    void run();
  };
  return html`<form class="message" onSubmit=${submit}>
    <p class="field">
      <label for=${field}>Your message to the visitor</label>
      <textarea
        id=${field}
        rows="4"
        dir="auto"
        maxlength="16384"
        value=${text}
        onInput=${(/** @type {InputEvent} */ event) => keep(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value)}
      ></textarea>
    </p>
    <${Failure} failure=${failure} />
    <p class="buttons"><button type="submit" aria-disabled=${String(busy || text.trim() === '')}>Send</button></p>
    <${Command}
      words=${isOfCli && text.trim() !== '' ? ['threads', 'say', id, ...toWords(text)] : undefined}
      what="send it"
    />
  </form>`;
}

/** @param {Message} message */
function idOf({ turn, author: { kind } }) {
  return `${turn} ${kind}`;
}
