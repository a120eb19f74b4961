/**
 * Reads the story that the API documents show: services/api-gateway/story contains requests and answers in their order
 * on a fresh platform with the demo workspace. A random value is written as `{{name=shown}}` at its first use, later as
 * `{{name}}`, and as `{{=shown}}` if it is used only once. The documents show `shown`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Values = Readonly<Record<string, unknown>>;

export interface StoryStep {
  readonly operation: string;
  /**
   * Caller: `shared` for the shared token, `gate` for the login gate key, `nobody` for no token, or the part of an
   * account's email before the @.
   */
  readonly as: string;
  readonly path?: Values;
  readonly query?: Values;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly raw?: string;
  /** Form field and file name of an upload. */
  readonly upload?: Readonly<Record<string, string>>;
  /**
   * True to repeat the request until the answer matches, for effects that happen after the previous request was
   * answered.
   */
  readonly eventually?: boolean;
  readonly status: number;
  /** True when lists of the answer may contain more items than the story shows. */
  readonly part?: boolean;
  /** Expected JSON or text; absent when the answer is a file. */
  readonly answer?: unknown;
}

const storyDir = join(import.meta.dirname, '..', '..', 'services', 'api-gateway', 'story');
/** Matches a marker. The groups are its name and the value that the documents show. */
export const marker = /\{\{(\w*)(?:=([^{}]*))?\}\}/g;

export function readStory(): StoryStep[] {
  const files = readdirSync(storyDir).toSorted();
  return files.flatMap((file) => parse(readFileSync(join(storyDir, file), 'utf8')) as StoryStep[]);
}

/**
 * Replaces each marker in the text. A text that consists of one marker is replaced by the value itself, which need not
 * be a text.
 */
export function fillText(text: string, valueOf: (name: string, documented: string | undefined) => unknown): unknown {
  const markers = [...text.matchAll(marker)];
  const [only] = markers;
  if (only !== undefined && only[0] === text) return valueOf(only[1] ?? '', only[2]);
  return text.replace(marker, (_all, name: string, documented: string | undefined) =>
    String(valueOf(name, documented)),
  );
}

/** Applies `fill` to every text in a value. */
export function fillTexts(value: unknown, fill: (text: string) => unknown): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillTexts(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTexts(item, fill)]));
}

/** Returns the story as the documents show it. @throws Error for a name that no earlier step defines */
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
