/** Page of one agent: sentences pending a decision, and approved sentences that other threads can use (D70). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Failure, List, useAct } from './parts.js';
import { Time } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListAgentKnowledgeResult} Knowledge */
/** @typedef {Knowledge['items'][number]} Sentence */
/** @typedef {{ verb: 'approve' | 'reject', sentence: Sentence }} Decision */

/** An agent stores at most this many pending sentences, and as many approved ones. */
const sentences = 200;

/** @type {Readonly<Record<Knowledge['mode'], string>>} */
const meanings = {
  off: 'AGENT_KNOWLEDGE is off: these sentences are not used.',
  reviewed: 'AGENT_KNOWLEDGE is reviewed: approved sentences are used for every visitor.',
  automatic: 'AGENT_KNOWLEDGE is automatic: all sentences are used for every visitor, approved or not.',
};

/** @type {Readonly<Record<Decision['verb'], { word: string, explanation: string }>>} */
const verbs = {
  approve: {
    word: 'Approve',
    explanation:
      'The agent may repeat this sentence to every visitor. Approved sentences are part of the prompt of every conversation.',
  },
  reject: {
    word: 'Reject',
    explanation: 'The sentence and its derived data are deleted permanently. The original conversation is not changed.',
  },
};

/** @param {import('./pages.js').PageProperties} properties */
export function AgentPage({ names: [slug = ''] }) {
  const [decision, setDecision] = useState(/** @type {Decision | undefined} */ (undefined));
  const path = `/ops/agents/${encodeURIComponent(slug)}`;
  /** @type {import('./live.js').Live<[Knowledge, Knowledge]>} */
  const live = useLive(path, (signal) =>
    Promise.all([
      call('GET', `${path}/knowledge`, { query: { state: 'waiting', limit: sentences }, signal }),
      call('GET', `${path}/knowledge`, { query: { state: 'approved', limit: sentences }, signal }),
    ]),
  );
  const [waiting, approved] = live.data ?? [];
  return html`<${Heading} title=${`Agent ${slug}`}><${Freshness} live=${live} /><//>
    <p>
      <${Link} href=${`${root}/agents`}>All agents<//>${' · '}
      <${Link} href=${`${root}/threads?agent=${encodeURIComponent(slug)}`}>Agent threads<//>
    </p>
    <${Trouble} live=${live} />
    ${
      waiting === undefined || approved === undefined
        ? null
        : html`<h2>Pending review (${waiting.items.length})</h2>
            <p class="faint">${meanings[waiting.mode]} Read each sentence and its thread before you decide.</p>
            <${List}
              title="Sentences pending review"
              columns=${columnsFor(['approve', 'reject'], setDecision)}
              items=${waiting.items}
              id=${idOf}
              empty="No sentences are pending review."
            />
            <h2>Approved (${approved.items.length})</h2>
            <${List}
              title="Approved sentences"
              columns=${columnsFor(['reject'], setDecision)}
              items=${approved.items}
              id=${idOf}
              empty="No sentences are approved."
            />
            <${Command} words=${['agents', 'knowledge', 'list', slug]} /> `
    }
    ${
      decision === undefined
        ? null
        : html`<${DecisionDialog}
            slug=${slug}
            decision=${decision}
            onClose=${() => setDecision(undefined)}
            onDone=${live.refresh}
          />`
    }`;
}

/**
 * @param {readonly Decision['verb'][]} possible
 * @param {(decision: Decision) => void} decide
 * @returns {readonly import('./parts.js').Column<Sentence>[]}
 */
const columnsFor = (possible, decide) => [
  { title: 'Sentence', wide: true, show: ({ body }) => body },
  {
    title: 'From',
    show: ({ thread_id: thread, channel, up_to_turn: turn }) =>
      html`<${Link} href=${`${root}/threads/${thread}`}>thread ${thread}<//
        ><small>${channel}, up to turn ${turn}</small>`,
  },
  { title: 'Created', show: ({ created_at: at }) => html`<${Time} at=${at} />` },
  {
    title: 'Actions',
    show: (sentence) =>
      possible.map(
        (verb) =>
          html`<button
            type="button"
            class="quiet"
            aria-label=${`${verbs[verb].word} sentence ${sentence.id}`}
            onClick=${() => decide({ verb, sentence })}
          >
            ${verbs[verb].word}
          </button> `,
      ),
  },
];

/** @param {{ slug: string, decision: Decision, onClose: () => void, onDone: () => void }} properties */
function DecisionDialog({ slug, decision: { verb, sentence }, onClose, onDone }) {
  const { word, explanation } = verbs[verb];
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `/ops/agents/${encodeURIComponent(slug)}/knowledge/${verb}`, { body: { ids: [sentence.id] } });
    onDone();
    onClose();
  });
  return html`<${Dialog} title=${`${word} this sentence?`} onClose=${onClose}>
    <blockquote>${sentence.body}</blockquote>
    <p>${explanation}</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" class=${verb === 'reject' ? 'danger' : ''} aria-disabled=${String(busy)} onClick=${run}>
        ${word}
      </button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command}
      words=${['agents', 'knowledge', verb, slug, String(sentence.id), ...(verb === 'reject' ? ['--yes'] : [])]}
    />
  <//>`;
}

/** @param {{ id: number }} item */
function idOf({ id }) {
  return id;
}
