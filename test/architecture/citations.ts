/**
 * Finds citations of rules, the architecture and files in code, tests and documents (docs/rules/README.md, How to
 * cite).
 */
import { listAnchors } from './anchors.ts';

export interface TextFile {
  /** Relative to the repository root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Citable rules and headings. */
export interface Rules {
  /** Rules with an id, such as `D19a`. */
  readonly ids: ReadonlySet<string>;
  /** Headings, such as `rules/room#transcript-window` and `architecture#jobs`. */
  readonly headings: ReadonlySet<string>;
  /** The headings that have text besides rules with an id. Headings of the architecture are not included. */
  readonly sections: ReadonlySet<string>;
}

/** Matches a rule with its continuation lines. */
const definition = /^- \*\*([ACDHIKMPSTV]\d+[a-z]?)\*\* .*\n(?: {2}.*\n)*/gm;
const id = /(?<![\w%+/#-])(?:D\d{1,3}[a-h]?|[ACHIKMPSTV][1-9]\d?)(?![\w-]|:\d)/g;
/** Names that look like rule ids: a storage protocol, an engine, a control character set. */
const otherNames = new Set(['S3', 'V8', 'C1']);
const heading = /(?<![\w./-])(?:rules\/[a-z-]+|architecture)#[a-z0-9-]+/g;
/** A whole page of the rules, cited in code. */
const page = /(?<![\w./-])rules\/[a-z-]+(?![\w/#-]|\.\w)/g;
/**
 * A file path relative to the root. Quoted paths are not matched: the program that uses such a path fails if the file
 * does not exist.
 */
const file =
  /(?<![\w./@'"#-])(?:\.\.\/)*((?:cli|clients|deploy|docs|lab|libs|services|test|tools)\/[\w./-]+\.(?:css|conf|js|json|md|mjs|png|tpl|ts|yaml))(?!\w)(?:#([a-z0-9-]+))?/g;
/** These pages mention removed files. */
const history = /(^|\/)(CHANGELOG|UPGRADING)\.md$/;
/** References to documents outside the repository, and to folders. */
const foreign =
  /\bspec 0\d|\b(?:architecture|operations|providers)(?:\.md)?,? §[\d.]*\d|\bdesign(?: of |\/)(?:architecture|operations|providers|style)|\(design:|(?<!\])\(docs\/adr\b(?!\/)/gi;

/** @throws Error when an id is defined twice */
export function readRules(pages: readonly TextFile[]): Rules {
  const ids = pages.flatMap(({ text }) => [...text.matchAll(definition)].map(([, name = '']) => name));
  const twice = ids.filter((name, index) => ids.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`defined twice: ${twice.join(', ')}`);
  const all = pages.flatMap(listSections);
  const sections = all.filter(({ name, rest }) => name.startsWith('rules/') && rest !== '');
  return {
    ids: new Set(ids),
    headings: new Set(all.map(({ name }) => name)),
    sections: new Set(sections.map(({ name }) => name)),
  };
}

/** Returns the text below each heading, without rules that have an id. */
function listSections({ path, text }: TextFile): { name: string; rest: string }[] {
  const page = path.replace(/^docs\//, '').replace(/\.md$/, '');
  const bodies = text.replaceAll(definition, '').split(/^#+ .*$/m);
  return listAnchors(text)
    .map((anchor, index) => ({ name: `${page}#${anchor}`, rest: bodies[index + 1]?.trim() ?? '' }))
    .slice(1);
}

function listCitations(text: string): string[] {
  return [...text.matchAll(id), ...text.matchAll(heading)].map(([found]) => found);
}

/** Whether the file exists and contains the heading. */
export type IsThere = (path: string, anchor: string | undefined) => boolean;

/** Returns unresolved citations as `path:line: what`. */
export function findUnresolved(files: readonly TextFile[], { ids, headings }: Rules, isThere: IsThere): string[] {
  // Names whose first letter no rule uses are not treated as rule ids.
  const letters = new Set(Array.from(ids, (name) => name[0]).concat('D'));
  const isKnown = (name: string): boolean =>
    ids.has(name) || headings.has(name) || otherNames.has(name) || (/^[A-Z]\d/.test(name) && !letters.has(name[0]));
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const unknown = listCitations(line).filter((name) => !isKnown(name));
      const outside = [...line.matchAll(foreign)].map(([found]) => found);
      return [...unknown, ...outside, ...findLost(path, line, isThere)].map((what) => `${path}:${index + 1}: ${what}`);
    }),
  );
}

/** Returns citations of missing pages and files. Tests may cite code files that do not exist as examples. */
function findLost(path: string, line: string, isThere: IsThere): string[] {
  const pages = path.endsWith('.md')
    ? []
    : [...line.matchAll(page)].map(([name]) => ({ name, target: `docs/${name}.md`, anchor: undefined }));
  const files = history.test(path)
    ? []
    : [...line.matchAll(file)].map(([name, target = '', anchor]) => ({ name, target, anchor }));
  const cited = files.filter(({ target }) => target.startsWith('docs/') || !isTest(path));
  return [...pages, ...cited].filter(({ target, anchor }) => !isThere(target, anchor)).map(({ name }) => name);
}

export const isTest = (path: string): boolean => path.startsWith('test/') || path.endsWith('.test.ts');

/** Returns rules that are not cited by any test. */
export function listUnnamed(tests: readonly TextFile[], { ids, sections }: Rules): string[] {
  const named = new Set(tests.flatMap(({ text }) => listCitations(text)));
  return [...ids, ...sections].filter((name) => !named.has(name));
}
