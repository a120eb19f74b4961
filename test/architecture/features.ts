/**
 * Checks the structure of a service: a folder is a feature, and the files of a feature have roles (CONTRIBUTING.md, A
 * feature). The path of a file determines its allowed imports, which limits the effect of a change to a feature.
 */
import { dirname, join, normalize } from 'node:path/posix';
import type { SourceFile } from './sources.ts';
import { listImports } from './imports.ts';

/** Service folders that are not features. */
const noFeatures = new Set(['entities', 'migrations']);
/** Contains routes instead of features. */
const gateway = 'api-gateway';
/** Files that compose the features; they may import handlers and workers. */
const composition = new Set(['service.ts', 'handlers.ts', 'workers.ts', 'main.ts']);
/** Libraries and Node modules that do I/O. */
const io =
  /^(#libs\/(infrastructure|product)\/(ffmpeg|http|jobs|nats|object-store|openai|orm(\/.*)?|outbound|pipeline-worker|realtimekit|transfer)|(node:)?(child_process|dns|fs|http|https|http2|net|tls|worker_threads)(\/.*)?)$/;
/** SQL text. */
const sqlText =
  /[`'"]\s*(select\s[^`'"]*\sfrom\s|insert\s+into\s|update\s+[\w.]+\s+(\w+\s+)?set\s|delete\s+from\s|with\s+\w+\s+as\s+(materialized\s+)?\()/;

/** A statement that the file sends to the database directly. */
const ownCall = /\b(db|tx)\.(query|stream)[<(]/;

interface Place {
  readonly service: string;
  /** Undefined for files outside feature folders. */
  readonly feature: string | undefined;
  /** `handlers` for `handlers.ts` and all files in `handlers/`. */
  readonly role: string;
}

/** Returns one line per violation: `path: what`. */
export function findFeatureViolations(files: readonly SourceFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return files.flatMap(({ path, text }) => {
    const place = findPlace(path);
    if (place === undefined) return [];
    const found = listTargets(path, text).flatMap((target) => checkTarget(path, place, target));
    if (place.role === 'rules') found.push(...findIo(path, texts));
    if (!mayHoldSql(place)) found.push(...checkSql(text));
    if (ownCall.test(text)) found.push('runs SQL past the statements, which are called as functions');
    return [...new Set(found)].map((what) => `${path}: ${what}`);
  });
}

function findPlace(path: string): Place | undefined {
  const [top, service = '', ...rest] = path.split('/');
  if (top !== 'services' || service === gateway || rest.length === 0 || path.endsWith('.test.ts')) return undefined;
  const [first = '', second = ''] = rest;
  if (rest.length === 1) return { service, feature: undefined, role: first.replace(/\.ts$/, '') };
  return noFeatures.has(first) ? undefined : { service, feature: first, role: second.replace(/\.ts$/, '') };
}

/** Returns the repository files that the file at `path` imports. */
function listTargets(path: string, text: string): string[] {
  return listImports(text).flatMap(({ specifier }) =>
    specifier.startsWith('.') ? [normalize(join(dirname(path), specifier))] : [],
  );
}

function checkTarget(path: string, place: Place, target: string): string[] {
  const to = findPlace(target);
  if (to === undefined || to.service !== place.service) return [];
  const found: string[] = [];
  if (place.role === 'workers' && to.role === 'handlers') found.push(`workers import ${target}`);
  const isComposition = place.feature === undefined && composition.has(path.split('/')[2] ?? '');
  const isFace = to.role === 'index' || to.role === 'contract';
  if (to.feature !== undefined && to.feature !== place.feature && !isFace && !isComposition) {
    found.push(`imports ${target}; a feature is reached through its index.ts or contract.ts`);
  }
  return found;
}

/**
 * Finds I/O modules that the file loads, directly or through other files of its service. The public files of other
 * features are checked on their own.
 */
function findIo(path: string, texts: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { specifier, isType } of listImports(texts.get(file) ?? '')) {
      if (isType) continue;
      const through = file === path ? '' : ` through ${file}`;
      if (io.test(specifier)) found.push(`rules import ${specifier}${through}`);
      if (!specifier.startsWith('.')) continue;
      const target = normalize(join(dirname(file), specifier));
      const role = findPlace(target)?.role ?? '';
      if (/^(handlers|statements|workers)$/.test(role)) found.push(`rules import ${target}${through}`);
      else if (role !== 'index' && role !== 'contract') visit(target);
    }
  };
  visit(path);
  return found;
}

/** Returns whether the file may contain SQL: `statements.ts`, and fragments shared by several features. */
function mayHoldSql({ feature, role }: Place): boolean {
  return role === 'statements' || (feature === undefined && !/^(config|contract|main|service)$/.test(role));
}

function checkSql(text: string): string[] {
  const tag = /import\s*\{[^}]*\b(sql|statement)\b[^}]*\}\s*from\s*['"]#libs\/infrastructure\/sql['"]/.test(text);
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return [
    ...(tag ? ['declares SQL; it belongs in statements.ts'] : []),
    ...(sqlText.test(code) ? ['has SQL in its text'] : []),
  ];
}
