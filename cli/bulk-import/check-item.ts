/**
 * Validates the structure of a conversation in a workspace file (rules/workspace#bulk-import), without references and
 * files.
 */
import {
  findJsonProblem,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  jsonProblemTexts,
} from '#libs/infrastructure/json';
import { isBlank, isSingleLine } from '#libs/infrastructure/text';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';
import type { Path } from '../workspace-file.ts';

export interface ItemProblem {
  /** Path of the invalid value within the item. */
  readonly path: Path;
  readonly message: string;
}

export interface TranscriptRow {
  readonly start_ms: number;
  readonly end_ms: number;
  /** Workspace key of the speaker; null = unresolved. */
  readonly person: string | null;
  /** Display name of an unresolved speaker. */
  readonly speaker: string | null;
  readonly text: string;
}

/** Validated fields of an item. Fields that are missing in the file are absent here. */
export interface CheckedItem {
  readonly key: string;
  journey?: string | null;
  step?: string | null;
  event?: string | null;
  /** `start` and `finish` are instants in UTC. */
  start?: string | null;
  finish?: string | null;
  participants?: readonly string[];
  connected?: readonly string[];
  infos?: JsonObject;
  /** Without the room state. */
  config?: JsonObject;
  room?: JsonObject | null;
  /** Paths of `audio`, `full` and `front_trimmed` as written in the file. */
  audio?: string;
  full?: string;
  front_trimmed?: string;
  finalized?: boolean;
  transcript?: readonly TranscriptRow[];
}

type Fail = (path: Path, message: string) => undefined;

const maxKeyLength = 500;
const roomKey = 'enter-coherence';

/** @returns the fields, or undefined when problems were added */
export function checkItem(value: unknown, problems: ItemProblem[]): CheckedItem | undefined {
  const before = problems.length;
  const fail: Fail = (path, message) => {
    problems.push({ path, message });
  };
  const bound = findJsonProblem(value);
  if (bound !== undefined) return fail(bound.path, jsonProblemTexts[bound.kind]);
  if (!isJsonObject(value)) return fail([], 'must be an object');
  const { key } = value;
  if (key === undefined) fail([], 'requires "key"');
  else if (typeof key !== 'string' || isBlank(key) || key.length > maxKeyLength) {
    fail(['key'], `must be a non-blank text of 1 to ${maxKeyLength} characters`);
  } else if (!isSingleLine(key)) fail(['key'], 'must have no control characters');
  const item: CheckedItem = { key: String(key) };
  for (const [name, given] of Object.entries(value)) {
    if (name === 'key') continue;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read === undefined) fail([name], 'is not a known field');
    else read(item, given, fail);
  }
  if (isBefore(item.finish, item.start)) fail(['finish'], 'is before start');
  if (item.step !== undefined && item.step !== null && typeof value['journey'] !== 'string')
    fail(['step'], 'requires a journey');
  return problems.length > before ? undefined : item;
}

const readers: Readonly<Record<string, (item: CheckedItem, value: unknown, fail: Fail) => void>> = {
  journey: (item, value, fail) => readSlug(item, 'journey', value, fail),
  step: (item, value, fail) => readSlug(item, 'step', value, fail),
  event: (item, value, fail) => readSlug(item, 'event', value, fail),
  start: (item, value, fail) => readTime(item, 'start', value, fail),
  finish: (item, value, fail) => readTime(item, 'finish', value, fail),
  participants: (item, value, fail) => readList(item, 'participants', value, fail),
  connected: (item, value, fail) => readList(item, 'connected', value, fail),
  infos: (item, value, fail) => {
    if (value === null) return;
    if (isJsonObject(value)) item.infos = value;
    else fail(['infos'], 'must be an object');
  },
  config: (item, value, fail) => {
    if (value === null) return;
    if (!isJsonObject(value)) return fail(['config'], 'must be an object');
    item.config = Object.fromEntries(Object.entries(value).filter(([name]) => name !== roomKey));
    if (!Object.hasOwn(value, roomKey)) return;
    const room = value[roomKey];
    if (room === null || isJsonObject(room)) item.room = room;
    else fail(['config', roomKey], 'must be an object');
  },
  audio: (item, value, fail) => readPath(item, 'audio', value, ['audio'], fail),
  recording: (item, value, fail) => {
    if (value === null) return;
    if (!isJsonObject(value)) return fail(['recording'], 'must be an object');
    for (const [name, given] of Object.entries(value)) {
      const path = ['recording', name];
      if (name === 'full' || name === 'front_trimmed') readPath(item, name, given, path, fail);
      else if (name !== 'finalized') fail(path, 'is not a known field');
      else if (typeof given === 'boolean') item.finalized = given;
      else if (given !== null) fail(path, 'must be true or false');
    }
  },
  transcript: (item, value, fail) => {
    if (value !== null && !Array.isArray(value)) return fail(['transcript'], 'must be a list');
    const rows: unknown[] = value ?? [];
    item.transcript = rows.flatMap((row, index) => readRow(row, ['transcript', index], fail) ?? []);
  },
};

function readSlug(item: CheckedItem, name: 'journey' | 'step' | 'event', value: unknown, fail: Fail): void {
  if (value === null || (typeof value === 'string' && !isBlank(value))) item[name] = value;
  else fail([name], 'must be a non-blank text or null');
}

function readTime(item: CheckedItem, name: 'start' | 'finish', value: unknown, fail: Fail): void {
  const parsed = typeof value === 'string' ? parseInstant(value) : undefined;
  if (value === null) item[name] = null;
  else if (parsed === undefined || parsed.kind === 'invalid')
    fail([name], 'must be an RFC 3339 date and time, or null');
  else item[name] = formatInstant(parsed.instant);
}

/** Compares two times in the format that `readTime` returns. */
function isBefore(left: string | null | undefined, right: string | null | undefined): boolean {
  const [one, other] = [left, right].map((text) => (typeof text === 'string' ? parseInstant(text) : undefined));
  return one?.kind === 'instant' && other?.kind === 'instant' && one.instant < other.instant;
}

function readList(item: CheckedItem, name: 'participants' | 'connected', value: unknown, fail: Fail): void {
  if (value !== null && !Array.isArray(value)) return fail([name], 'must be a list of texts');
  const list: unknown[] = value ?? [];
  const seen = new Set<unknown>();
  for (const [index, entry] of list.entries()) {
    if (typeof entry !== 'string' || isBlank(entry)) fail([name, index], 'must be a non-blank text');
    else if (seen.has(entry)) fail([name, index], `repeats "${entry}"`);
    seen.add(entry);
  }
  item[name] = list.map(String);
}

function readPath(
  item: CheckedItem,
  name: 'audio' | 'full' | 'front_trimmed',
  value: unknown,
  path: Path,
  fail: Fail,
): void {
  if (value === null) return;
  if (typeof value === 'string' && !isBlank(value)) item[name] = value;
  else fail(path, 'must be the path of a file, or null');
}

const rowFields = new Set(['start_ms', 'end_ms', 'person', 'speaker', 'text']);
const maxMs = 1e12;

function readRow(value: unknown, path: Path, fail: Fail): TranscriptRow | undefined {
  if (!isJsonObject(value)) return fail(path, 'must be an object');
  for (const name of Object.keys(value)) if (!rowFields.has(name)) fail([...path, name], 'is not a known field');
  const [start_ms, end_ms] = [readMs(value, 'start_ms', path, fail), readMs(value, 'end_ms', path, fail)];
  if (start_ms !== undefined && end_ms !== undefined && end_ms < start_ms)
    fail([...path, 'end_ms'], 'is before start_ms');
  const { person = null, speaker = null, text } = value;
  if (person !== null && (typeof person !== 'string' || isBlank(person)))
    fail([...path, 'person'], 'must be the key of a person, or null');
  if (speaker !== null && typeof speaker !== 'string') fail([...path, 'speaker'], 'must be text');
  else if (speaker !== null && !isSingleLine(speaker)) fail([...path, 'speaker'], 'must have no control characters');
  if (typeof text !== 'string')
    fail(text === undefined ? path : [...path, 'text'], text === undefined ? 'needs "text"' : 'must be text');
  if (start_ms === undefined || end_ms === undefined || typeof text !== 'string') return undefined;
  return { start_ms, end_ms, person: textOrNull(person), speaker: textOrNull(speaker), text };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function readMs(row: JsonObject, name: string, path: Path, fail: Fail): number | undefined {
  const given = row[name];
  const value = isRawNumber(given) ? Number(given.rawJSON) : given;
  if (value === undefined) return fail(path, `needs "${name}"`);
  if (typeof value === 'number' && value >= 0 && value <= maxMs) return value;
  return fail([...path, name], 'must be a number of milliseconds, 0 or more');
}
