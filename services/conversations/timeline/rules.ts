/** Items of the timeline from stored moments (W9, W23). */
import type { TimelineFact } from '#libs/infrastructure/contract';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';

type Kind = TimelineFact['kind'];

const auditKinds: Readonly<Record<string, Kind>> = {
  'conversation.delete': 'conversation.deleted',
  'conversation.restore': 'conversation.restored',
};

const titles: Partial<Record<Kind, string>> = {
  'conversation.updated': 'Conversation updated',
  'conversation.deleted': 'Conversation deleted',
  'conversation.restored': 'Conversation restored',
  'booking.applied': 'Booking applied',
  'booking.refused': 'Booking refused',
  'room.opened': 'Room opened',
  'window.started': 'Transcript window started',
  'window.ended': 'Transcript window ended',
  recorded: 'Recorded',
  'note.created': 'Note added',
  'summary.written': 'Summary written',
  published: 'Published on the video host',
};

const fact = (at: string, kind: Kind, more: Partial<TimelineFact> = {}): TimelineFact => ({
  at,
  kind,
  title: titles[kind] ?? kind,
  actor: null,
  detail: null,
  link: null,
  ...more,
});

interface Moment {
  readonly at: string;
  readonly source: 'created' | 'audit' | 'entry' | 'receipt' | 'question' | 'note';
  readonly name: string;
  readonly ref: number | bigint | null;
  readonly actor_kind: string | null;
  readonly account_id: number | null;
  readonly person_id: number | null;
  readonly changes: string | null;
}

interface Names {
  readonly findPerson: (id: number) => { readonly name: string } | undefined;
  readonly findStep: (id: number) => { readonly slug: string; readonly title: string } | undefined;
  readonly findQuestion: (id: number) => string | undefined;
}

/** Returns the item of a stored moment. */
export function toFact(moment: Moment, { findPerson, findStep, findQuestion }: Names): TimelineFact {
  const { at, name, changes } = moment;
  const id = Number(moment.ref);
  switch (moment.source) {
    case 'created':
      return fact(at, 'conversation.created', { title: 'Conversation created' });
    case 'audit':
      return fact(at, auditKinds[name] ?? 'conversation.updated', {
        actor: readActor(moment),
        detail: readDetail(name, changes),
      });
    case 'entry': {
      if (name === 'room.opened') return fact(at, name);
      const step = findStep(id);
      const title = `Step entered: ${step?.title ?? 'a removed step'}`;
      return fact(at, 'step.entered', { title, detail: { step: step?.slug ?? null }, link: { type: 'step', id } });
    }
    case 'receipt':
      return fact(at, name === 'applied' ? 'booking.applied' : 'booking.refused', {
        detail: { trigger: changes, outcome: name },
        link: { type: 'webhook_receipt', id },
      });
    case 'question':
      return fact(at, 'question.shown', {
        title: `Question shown: ${findQuestion(id) ?? 'a removed question'}`,
        link: { type: 'question', id },
      });
    case 'note': {
      const author = moment.person_id === null ? undefined : findPerson(moment.person_id);
      return fact(at, name === 'recorded' ? 'recorded' : 'note.created', {
        actor: moment.person_id === null ? null : { kind: 'person', name: author?.name ?? null, account_id: null },
        detail: { note_type: name },
        link: { type: 'note', id },
      });
    }
  }
}

/** Actions whose stored change is the id of a holon, which readers may not see after the link was removed (D48). */
const linking: readonly string[] = ['conversation.connect', 'conversation.disconnect'];

function readDetail(action: string, changes: string | null): JsonObject | null {
  if (linking.includes(action)) return { fields: ['connected_slugs'] };
  return changes === null ? null : (parseJson(changes) as JsonObject);
}

function readActor({ actor_kind: kind, account_id: accountId }: Moment): TimelineFact['actor'] {
  const known = (['account', 'key', 'cli', 'shared'] as const).find((own) => own === kind);
  return known === undefined ? null : { kind: known, name: null, account_id: accountId };
}

/** Returns the boundaries of the transcript window. Bulk-imported text that is not a datetime is left out. */
export function listBoundaries(room: JsonObject | null): TimelineFact[] {
  const boundary = (value: unknown, kind: Kind): TimelineFact[] => {
    const at = toInstant(value);
    return at === undefined ? [] : [fact(at, kind)];
  };
  return [
    ...boundary(room?.['conversationStartedAt'], 'window.started'),
    ...boundary(room?.['captureEndedAt'], 'window.ended'),
  ];
}

/** Returns when the pipeline wrote the summary and the video host's record, from their provenance (D18a). */
export function listPublishing(publishing: unknown): TimelineFact[] {
  const groups = isJsonObject(publishing) ? publishing : {};
  const written = (group: string, name: string, kind: Kind): TimelineFact[] => {
    const values = groups[group];
    const value = isJsonObject(values) ? values[name] : undefined;
    const provenance = isJsonObject(value) ? value['provenance'] : undefined;
    const at = toInstant(isJsonObject(provenance) ? provenance['at'] : undefined);
    return at === undefined ? [] : [fact(at, kind)];
  };
  return [...written('fields', 'summary', 'summary.written'), ...written('records', 'videohost', 'published')];
}

function toInstant(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseInstant(value);
  return parsed.kind === 'invalid' ? undefined : formatInstant(parsed.instant);
}
