/** Citations of rules, of the architecture and of files in code, tests and documents (docs/rules/README.md, How to cite). */
import { listAnchors } from './anchors.ts';

export interface TextFile {
  /** From the repository's root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** What can be cited. */
export interface Rules {
  /** Rules with an id, such as `D19a`. */
  readonly ids: ReadonlySet<string>;
  /** Headings, such as `rules/room#transcript-window` and `architecture#jobs`. */
  readonly headings: ReadonlySet<string>;
  /** Those of them that say something besides rules with an id; the architecture has none. */
  readonly sections: ReadonlySet<string>;
}

/** With the lines that belong to it. */
const definition = /^- \*\*([ACDHIKMPSTV]\d+[a-z]?)\*\* .*\n(?: {2}.*\n)*/gm;
const id = /(?<![\w%+/#-])(?:D\d{1,3}[a-h]?|[ACHIKMPSTV][1-9]\d?)(?![\w-]|:\d)/g;
/** They look like ids, and are names of other things: a store's protocol, an engine, a set of control characters. */
const otherNames = new Set(['S3', 'V8', 'C1']);
const heading = /(?<![\w./-])(?:rules\/[a-z-]+|architecture)#[a-z0-9-]+/g;
/** A page of the rules as a whole, where nothing else is called so: in code. */
const page = /(?<![\w./-])rules\/[a-z-]+(?![\w/#-]|\.\w)/g;
/** A file, named from the root; one in quotes is for a program, which says itself when it is not there. */
const file =
  /(?<![\w./@'"#-])(?:\.\.\/)*((?:cli|clients|deploy|docs|lab|libs|services|test|tools)\/[\w./-]+\.(?:css|conf|js|json|md|mjs|png|tpl|ts|yaml))(?!\w)(?:#([a-z0-9-]+))?/g;
/** They tell of files that are gone. */
const history = /(^|\/)(CHANGELOG|UPGRADING)\.md$/;
/** Texts that are not in the repository, and folders in the place of a page. */
const foreign =
  /\bspec 0\d|\b(?:architecture|operations|providers)(?:\.md)?,? §[\d.]*\d|\bdesign(?: of |\/)(?:architecture|operations|providers|style)|\(design:|(?<!\])\(docs\/adr\b(?!\/)/gi;

/** @throws Error when an id is defined twice */
export function readRules(pages: readonly TextFile[]): Rules {
  const ids = pages.flatMap(({ text }) => [...text.matchAll(definition)].map(([, name = '']) => name));
  const twice = ids.filter((name, index) => ids.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`defined twice: ${twice.join(', ')}`);
  const all = pages.flatMap(listSections);
  const sections = all.filter(({ name, rest }) => name.startsWith('rules/') && rest !== '');
  return { ids: new Set(ids), headings: new Set(all.map(({ name }) => name)), sections: new Set(sections.map(({ name }) => name)) };
}

/** What stands under each heading below the page's title, without rules that have an id. */
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

/** Whether there is a file, and a heading in it. */
export type IsThere = (path: string, anchor: string | undefined) => boolean;

/** Citations that lead nowhere, as `path:line: what`. */
export function findUnresolved(files: readonly TextFile[], { ids, headings }: Rules, isThere: IsThere): string[] {
  // A letter without any rule begins no ids.
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

/** Tests make up files of code, to show what is found in them. */
function findLost(path: string, line: string, isThere: IsThere): string[] {
  const pages = path.endsWith('.md')
    ? []
    : [...line.matchAll(page)].map(([name]) => ({ name, target: `docs/${name}.md`, anchor: undefined }));
  const files = history.test(path) ? [] : [...line.matchAll(file)].map(([name, target = '', anchor]) => ({ name, target, anchor }));
  const cited = files.filter(({ target }) => target.startsWith('docs/') || !isTest(path));
  return [...pages, ...cited].filter(({ target, anchor }) => !isThere(target, anchor)).map(({ name }) => name);
}

export const isTest = (path: string): boolean => path.startsWith('test/') || path.endsWith('.test.ts');

/** Rules that none of the tests cites. */
export function listUnnamed(tests: readonly TextFile[], { ids, sections }: Rules): string[] {
  const named = new Set(tests.flatMap(({ text }) => listCitations(text)));
  return [...ids, ...sections].filter((name) => !named.has(name));
}
