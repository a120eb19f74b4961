/** One conversation: participants and times, the recording, the transcript, and the results of the pipeline. */
import { Heading, Link, root } from './address.js';
import { call, CallFailure } from './calls.js';
import { Json } from './job-page.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Facts, Failure, toOptions, useAct } from './parts.js';
import { Time, toClock } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ConversationSummary} Summary */
/** @typedef {import('../../../clients/typescript/operations.ts').ConversationOut} Conversation */
/**
 * @typedef {{ summary: Summary, conversation: Conversation, video: { url: string, name: string } | undefined }} Whole
 */
/** @typedef {{ index: number, start_ms: number, speaker: { name: string }, text: string }} Segment */

/** Number of utterances per request. */
const rows = 200;
const formats = [
  ['md', 'Markdown'],
  ['json', 'JSON'],
  ['vtt', 'WebVTT'],
  ['srt', 'SubRip'],
  ['txt', 'text'],
];

/** @param {import('./pages.js').PageProperties} properties */
export function ConversationPage({ names: [id = ''] }) {
  const path = `/coherence/conversations/${encodeURIComponent(id)}`;
  /** @type {import('./live.js').Live<Whole>} */
  const live = useLive(path, async (signal) => {
    const [summary, conversation, video] = await Promise.all([
      call('GET', `${path}/summary`, { signal }),
      call('GET', path, { signal }),
      undefinedIfNotFound(call('GET', `${path}/video`, { signal })),
    ]);
    return { summary, conversation, video };
  });
  const { data } = live;
  return html`<${Heading} title=${data?.summary.title ?? `Conversation ${id}`}><${Freshness} live=${live} /><//>
    <p>
      <${Link} href=${`${root}/conversations`}>All conversations<//>${' · '}
      <${Link} href=${`${root}/jobs?conversation_id=${encodeURIComponent(id)}`}>Conversation jobs<//>${' · '}
      <${Link} href=${`${root}/pipelines?conversation_id=${encodeURIComponent(id)}`}>Pipeline state<//>
    </p>
    <${Trouble} live=${live} />
    ${
      data === undefined
        ? null
        : html`<${Facts} facts=${describe(data.summary)} />
            <h2>Recording</h2>
            <${Recording} path=${path} video=${data.video} conversation=${data.conversation} />
            <h2>Transcript</h2>
            <${Transcript} path=${path} id=${id} />
            <h2>Metadata</h2>
            <${Json} title="Public data (infos)" value=${data.conversation.infos} />
            <${Json} title="Operational data (config)" value=${data.conversation.config} />`
    }
    <${Command} words=${['conversations', 'show', id]} what="show it" />`;
}

/** @param {Summary} summary @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe({ id, event, journey, step, start, finish, participants, connected }) {
  return [
    ['Id', id],
    ['Event', event === null ? '–' : html`<${Link} href=${`${root}/holons/${event.id}`}>${event.name}<//>`],
    ['Journey', journey.name || '–'],
    ['Step', step.title || '–'],
    ['Start', html`<${Time} at=${start} none="not set" />`],
    ['Finish', html`<${Time} at=${finish} none="open" />`],
    [
      'People',
      participants.map((person) => html`<div><${Link} href=${`${root}/people/${person.id}`}>${person.name}<//></div>`),
    ],
    [
      'Connected',
      connected.length === 0
        ? '–'
        : connected.map((holon) => html`<div><${Link} href=${`${root}/holons/${holon.id}`}>${holon.name}<//></div>`),
    ],
  ];
}

/** @param {{ path: string, video: Whole['video'], conversation: Conversation }} properties */
function Recording({ path, video, conversation }) {
  const hasAudio = conversation.infos['audio'] !== undefined;
  if (video === undefined && !hasAudio) return html`<p class="faint">No recording yet.</p>`;
  return html`${
    video === undefined
      ? null
      : html`<video controls preload="none" src=${video.url} aria-label=${`Recording ${video.name}`}>
          <track kind="captions" srclang="en" label="Transcript" src=${`/console/api${path}/captions.vtt`} />
        </video>`
  }
  ${hasAudio ? html`<audio controls preload="none" src=${`/console/api${path}/audio`} aria-label="Uploaded audio"></audio>` : null}`;
}

/**
 * Shows the transcript, which can be long: it is loaded on request, one page at a time. @param {{ path: string, id:
 * string }} properties
 */
function Transcript({ path, id }) {
  const [segments, setSegments] = useState(/** @type {readonly Segment[] | undefined} */ (undefined));
  const [isMore, setMore] = useState(true);
  const known = segments?.length ?? 0;
  const { busy, failure, run } = useAct(async () => {
    const part = await call('GET', `${path}/transcript`, { query: { format: 'json', limit: rows, offset: known } });
    setSegments([...(segments ?? []), ...part.segments]);
    setMore(part.segments.length === rows);
  });
  const last = Math.max(0, Math.ceil(known / rows) - 1) * rows;
  return html`<p class="buttons">
      ${segments === undefined ? html`<button type="button" aria-disabled=${String(busy)} onClick=${run}>Show transcript</button>` : null}
      ${formats.map(([format, name]) => html`<a href=${`/console/api${path}/transcript?format=${format}`} download>${name}</a>`)}
    </p>
    <${Failure} failure=${failure} />
    ${segments === undefined ? null : html`<${Utterances} segments=${segments} />`}
    ${
      segments !== undefined && isMore
        ? html`<p><button type="button" class="quiet" aria-disabled=${String(busy)} onClick=${run}>More</button></p>`
        : null
    }
    <${Command}
      words=${['transcripts', 'read', id, ...toOptions({ limit: String(rows), cursor: String(last) })]}
      what="read the transcript"
    />`;
}

/** @param {{ segments: readonly Segment[] }} properties */
function Utterances({ segments }) {
  if (segments.length === 0) return html`<p class="empty">No utterances, or the transcript is not imported yet.</p>`;
  return html`<ol class="said" aria-label=${`${segments.length} utterances`}>
    ${segments.map(
      ({ index, start_ms: at, speaker, text }) =>
        html`<li key=${index}>
          <span class="faint">${toClock(at)}</span> <b><bdi>${speaker.name}</bdi></b> <bdi>${text}</bdi>
        </li>`,
    )}
  </ol>`;
}

/** @template T @param {Promise<T>} request @returns {Promise<T | undefined>} */
async function undefinedIfNotFound(request) {
  try {
    return await request;
  } catch (error) {
    if (error instanceof CallFailure && error.status === 404) return undefined;
    throw error;
  }
}
