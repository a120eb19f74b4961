/**
 * The story that the documents show: services/api-gateway/story, one list of requests and answers in the order in which they happen on a
 * fresh platform with the demo workspace. What a platform makes at random stands as `{{name=shown}}` where it first appears, later
 * as `{{name}}`, and as `{{=shown}}` when nothing asks for it again; the documents show `shown`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Values = Readonly<Record<string, unknown>>;

export interface StoryStep {
  readonly operation: string;
  /** `shared` token, login `gate`, `nobody`, or whose token: the part of an account's email before the @. */
  readonly as: string;
  readonly path?: Values;
  readonly query?: Values;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly raw?: string;
  /** Form field and name of the file. */
  readonly upload?: Readonly<Record<string, string>>;
  /** Is asked again until the answer is there, for what happens after the request before it was answered. */
  readonly eventually?: boolean;
  readonly status: number;
  /** Its lists may have more than the answer shows. */
  readonly part?: boolean;
  /** JSON or text; absent for files. */
  readonly answer?: unknown;
}

const storyDir = join(import.meta.dirname, '..', '..', 'services', 'api-gateway', 'story');
/** Its groups: the name, and what is shown. */
export const marker = /\{\{(\w*)(?:=([^{}]*))?\}\}/g;

export function readStory(): StoryStep[] {
  const files = readdirSync(storyDir).toSorted();
  return files.flatMap((file) => parse(readFileSync(join(storyDir, file), 'utf8')) as StoryStep[]);
}

/** The text with each marker replaced; a text that is a marker alone becomes the value itself. */
export function fillText(text: string, valueOf: (name: string, documented: string | undefined) => unknown): unknown {
  const markers = [...text.matchAll(marker)];
  const [only] = markers;
  if (only !== undefined && only[0] === text) return valueOf(only[1] ?? '', only[2]);
  return text.replace(marker, (_all, name: string, documented: string | undefined) => String(valueOf(name, documented)));
}

/** Every text of a value filled. */
export function fillTexts(value: unknown, fill: (text: string) => unknown): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillTexts(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTexts(item, fill)]));
}

/** The story as the documents show it. @throws Error for a name that no earlier step brings */
export function showStory(steps: readonly StoryStep[]): StoryStep[] {
  const known = new Map<string, unknown>();
  const show = (name: string, documented: string | undefined): unknown => {
    if (documented === undefined) {
      if (!known.has(name)) throw new Error(`the story knows no {{${name}}} yet`);
      return known.get(name);
    }
    const value: unknown = parse(documented);
    if (name !== '') known.set(name, value);
    return value;
  };
  return steps.map((step) => fillTexts(step, (text) => fillText(text, show)) as StoryStep);
}
