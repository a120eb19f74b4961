/**
 * Transcript artifact of the demo's meeting provider: an hour, four speakers, in the provider's JSON dialect
 * (rules/providers#realtimekit-artifact). Identical on every run.
 */
import type { ArtifactRow } from '../../libs/product/testing/realtimekit.ts';
import { createRandom, makeAside, makeStatement, pick, type Random } from './sentences.ts';

export interface Speaker {
  /** The participant's id in the meeting that the platform assigned. */
  customParticipantId: string;
  displayName: string;
}

export interface Meeting {
  /** Start of the provider's session, milliseconds since the epoch. */
  startedAtMs: number;
  endedAtMs: number;
  /** Start of the approved transcript window, milliseconds since the epoch. */
  windowStartMs: number;
  windowEndMs: number;
}

export interface Artifact {
  rows: ArtifactRow[];
  /** The exact bytes that the provider returns. */
  text: string;
  /** Texts of the utterances before and after the window and across its edges, none of which may be imported. */
  outside: string[];
}

const minuteMs = 60_000;
const seed = 20_260_501;
const warmUpMs = 4 * minuteMs;
const conversationMs = 60 * minuteMs;
const goodbyeMs = 3 * minuteMs;
/** Half the duration of a row that crosses an edge of the window. */
const acrossMs = 2_000;

/**
 * Returns a meeting that ended just before `nowMs`, with four minutes before the window, an hour in the window, and
 * three minutes after it.
 */
export function planMeeting(nowMs: number): Meeting {
  const endedAtMs = Math.floor(nowMs / 1000) * 1000 - minuteMs;
  const startedAtMs = endedAtMs - warmUpMs - conversationMs - goodbyeMs;
  return {
    startedAtMs,
    endedAtMs,
    windowStartMs: startedAtMs + warmUpMs,
    windowEndMs: startedAtMs + warmUpMs + conversationMs,
  };
}

/**
 * Returns rows before, in and after the window, one row across each edge of the window, and irregular rows as in real
 * artifacts.
 */
export function makeArtifact(meeting: Meeting, speakers: readonly Speaker[]): Artifact {
  const random = createRandom(seed);
  const peers = speakers.map((speaker, index) => toPeer(speaker, index, meeting));
  const from = meeting.windowStartMs - meeting.startedAtMs;
  const until = meeting.windowEndMs - meeting.startedAtMs;
  const rows = [
    ...talk(random, peers, 5_000, from - acrossMs, () => makeAside(random, 'before')),
    row(peers[0], from - acrossMs, from + acrossMs, 'So, everybody agrees? Then the recording begins now.'),
    ...talk(random, peers, from + acrossMs + 500, until - acrossMs, () => makeStatement(random)),
    row(peers[1], until - acrossMs, until + acrossMs, 'And with that I stop the recording.'),
    ...talk(random, peers, until + acrossMs + 500, meeting.endedAtMs - meeting.startedAtMs - 1_000, () =>
      makeAside(random, 'after'),
    ),
  ];
  const middle = Math.floor(rows.length / 2);
  const [atMs] = [Number(rows[middle]?.startTime)];
  // Real artifacts contain rows without text and rows without an end, which the platform does not import.
  rows.splice(middle, 0, row(peers[2], atMs - 400, atMs - 300, '  '), {
    startTime: atMs - 200,
    sentence: 'Hm.',
    peerData: peers[3],
  });
  const outside = rows.filter(({ startTime, endTime }) => Number(startTime) < from || Number(endTime) > until);
  return { rows, text: JSON.stringify(rows), outside: outside.map(({ sentence }) => String(sentence)) };
}

/**
 * Returns rows between two times: speakers talk in turn, one to four sentences each, with one row per sentence and
 * pauses.
 */
function talk(
  random: Random,
  peers: readonly Peer[],
  fromMs: number,
  untilMs: number,
  log: () => string,
): ArtifactRow[] {
  const rows: ArtifactRow[] = [];
  let atMs = fromMs;
  let last: Peer | undefined;
  for (;;) {
    const peer = pick(
      random,
      peers.filter((item) => item !== last),
    );
    last = peer;
    for (let remaining = 1 + Math.floor(random() * 4); remaining > 0; remaining -= 1) {
      const sentence = log();
      const lengthMs = 700 + sentence.length * 62;
      if (atMs + lengthMs > untilMs - 100) return rows;
      rows.push(row(peer, atMs, atMs + lengthMs, sentence));
      atMs += lengthMs + 150 + Math.floor(random() * 500);
    }
    atMs += 400 + Math.floor(random() * 2_500);
  }
}

type Peer = ReturnType<typeof toPeer>;

function toPeer({ customParticipantId, displayName }: Speaker, index: number, meeting: Meeting) {
  return {
    id: `peer-${index + 1}`,
    userId: `user-${index + 1}`,
    displayName,
    cpi: customParticipantId,
    joinedAt: new Date(meeting.startedAtMs + index * 20_000).toISOString(),
    leftAt: new Date(meeting.endedAtMs).toISOString(),
  };
}

function row(peerData: Peer | undefined, startTime: number, endTime: number, sentence: string): ArtifactRow {
  return { startTime: Math.round(startTime), endTime: Math.round(endTime), sentence, peerData };
}
