/** The borders between the parts of the platform (design: each library is the only importer of its packages). */
import { dirname, join, normalize } from 'node:path/posix';
import { listImports } from './imports.ts';
import type { SourceFile } from './sources.ts';

/** Packages by the only library that may import them. */
const owners: readonly { library: string; packages: RegExp }[] = [
  { library: 'http', packages: /^(koa|koa-body|@koa\/.+|@scalar\/.+)$/ },
  { library: 'object-store', packages: /^@(aws-sdk|smithy)\/.+$/ },
  { library: 'logger', packages: /^pino$/ },
  { library: 'schema', packages: /^ajv(-formats)?(\/.+)?$/ },
  { library: 'nats', packages: /^@nats-io\/.+$/ },
  { library: 'orm', packages: /^(pg|pg-copy-streams|kysely|@mikro-orm\/(postgresql|migrations|sql))$/ },
  { library: 'telemetry', packages: /^(@prometheus-io\/client|@opentelemetry\/.+)$/ },
  { library: 'outbound', packages: /^undici$/ },
  { library: 'backup', packages: /^age-encryption$/ },
  { library: 'openai', packages: /^openai(\/.+)?$/ },
  { library: 'mcp', packages: /^@modelcontextprotocol\/.+$/ },
  { library: 'oidc', packages: /^(jose|openid-client)$/ },
];
/** What people run: they may import any file. */
const programs = new Set(['cli', 'lab', 'tools']);
/** Where the environment may be read: everything else is told by a configuration. */
const environmentReaders = /^(libs\/(config|testing)\/|cli\/|lab\/|tools\/|test\/)/;

/** One line per broken border: `path: what`. */
export function findBorderViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found = listImports(file.text).flatMap(({ specifier }) => checkImport(file.path, specifier));
    if (/\bprocess\.env\b/.test(file.text) && !environmentReaders.test(file.path) && !isTest(file.path)) {
      found.push('reads process.env; settings come through #libs/config');
    }
    return found.map((what) => `${file.path}: ${what}`);
  });
}

function checkImport(path: string, specifier: string): string[] {
  if (specifier.startsWith('.')) return checkRelative(path, specifier);
  if (specifier.startsWith('#services/')) {
    return path.startsWith('libs/') && !isTest(path) ? [`a library imports ${specifier}`] : [];
  }
  if (specifier === '#libs/testing' && !isTest(path)) return ['imports #libs/testing outside tests'];
  const owner = owners.find((item) => item.packages.test(specifier));
  const free = isTest(path) || /^lab\/(bench|chaos|cost|feed|scale)\//.test(path); // they measure, and look, with the bare packages
  if (owner === undefined || free || path.startsWith(`libs/${owner.library}/`)) return [];
  return [`imports ${specifier}, which only libs/${owner.library} may`];
}

function checkRelative(path: string, specifier: string): string[] {
  const target = normalize(join(dirname(path), specifier));
  const [from, to] = [findUnit(path), findUnit(target)];
  if (from === to || isTest(path) || programs.has(from) || (from === 'libs/testing' && to === 'tools')) return [];
  return [`imports ${specifier} of ${to}; other parts are reached through #libs and #services`];
}

/** `services/<name>`, `libs/<name>`, or the folder at the top. */
function findUnit(path: string): string {
  const [top = '', name = ''] = path.split('/');
  return top === 'services' || top === 'libs' ? `${top}/${name}` : top;
}

function isTest(path: string): boolean {
  return path.startsWith('test/') || path.endsWith('.test.ts') || path.includes('/testing/');
}
