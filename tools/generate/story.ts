/**
 * The story shown in the documents: services/api-gateway/story, a list of requests and answers in order on a fresh
 * platform with the demo workspace. Random values are written as `{{name=shown}}` at their first use, later as
 * `{{name}}`, and as `{{=shown}}` if they are not used again; the documents show `shown`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Values = Readonly<Record<string, unknown>>;

export interface StoryStep {
  readonly operation: string;
  /** `shared` token, login `gate`, `nobody`, or an account: the part of its email before the @. */
  readonly as: string;
  readonly path?: Values;
  readonly query?: Values;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly raw?: string;
  /** Form field and file name. */
  readonly upload?: Readonly<Record<string, string>>;
  /** Repeated until the answer matches, for effects after the previous request's answer. */
  readonly eventually?: boolean;
  readonly status: number;
  /** Its lists may contain more than the answer shows. */
  readonly part?: boolean;
  /** JSON or text; absent for files. */
  readonly answer?: unknown;
}

const storyDir = join(import.meta.dirname, '..', '..', 'services', 'api-gateway', 'story');
/** Groups: the name, and the shown value. */
export const marker = /\{\{(\w*)(?:=([^{}]*))?\}\}/g;

export function readStory(): StoryStep[] {
  const files = readdirSync(storyDir).toSorted();
  return files.flatMap((file) => parse(readFileSync(join(storyDir, file), 'utf8')) as StoryStep[]);
}

/** Replaces each marker in the text; a text that consists of one marker becomes the value itself. */
export function fillText(text: string, valueOf: (name: string, documented: string | undefined) => unknown): unknown {
  const markers = [...text.matchAll(marker)];
  const [only] = markers;
  if (only !== undefined && only[0] === text) return valueOf(only[1] ?? '', only[2]);
  return text.replace(marker, (_all, name: string, documented: string | undefined) =>
    String(valueOf(name, documented)),
  );
}

/** Fills every text of a value. */
export function fillTexts(value: unknown, fill: (text: string) => unknown): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillTexts(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTexts(item, fill)]));
}

/** The story as shown in the documents. @throws Error for a name that no earlier step defines */
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
