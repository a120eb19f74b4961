/**
 * Checks which imports between services, libraries and programs are allowed (architecture#contracts; CONTRIBUTING.md,
 * Where things are).
 */
import { dirname, join, normalize } from 'node:path/posix';
import { listImports } from './imports.ts';
import type { SourceFile } from './sources.ts';

/** Maps each library or service to the external packages, or package entry points, that only it may import. */
export const packagesOf: Readonly<Record<string, readonly string[]>> = {
  'libs/product/backup': ['age-encryption'],
  'libs/infrastructure/contract': ['typebox'],
  'libs/infrastructure/http': ['@koa/router', '@scalar/fastify-api-reference', 'koa', 'koa-body'],
  'libs/infrastructure/logger': ['pino', 'pino-pretty'],
  'libs/infrastructure/mcp': ['@modelcontextprotocol/server'],
  'libs/infrastructure/nats': ['@nats-io/jetstream', '@nats-io/transport-node'],
  'libs/infrastructure/object-store': ['@aws-sdk/client-s3'],
  'libs/infrastructure/oidc': ['jose', 'openid-client'],
  'libs/infrastructure/openai': ['openai'],
  'libs/infrastructure/orm': [
    '@mikro-orm/core',
    '@mikro-orm/migrations',
    '@mikro-orm/postgresql',
    'kysely',
    'pg',
    'pg-copy-streams',
  ],
  'libs/infrastructure/outbound': ['undici'],
  'libs/infrastructure/schema': ['ajv', 'ajv-formats'],
  'libs/infrastructure/telemetry': [
    '@opentelemetry/api',
    '@opentelemetry/core',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/exporter-trace-otlp-proto',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
    '@prometheus-io/client',
  ],
  'services/agents': ['grammy', 'markdown-it'],
  'services/directory': ['@zxcvbn-ts/core', '@zxcvbn-ts/language-common', 'i18n-iso-countries', 'sanitize-html'],
  'services/media': ['@fastify/busboy', 'file-type', 'sharp'],
  'services/transcripts': ['csv-parse'],
};
const owners = new Map(
  Object.entries(packagesOf).flatMap(([part, names]) => names.map((name) => [name, part] as const)),
);
/**
 * Programs may import any file of the lower layers. The admin CLI may not import development tools, which its image
 * does not contain.
 */
const programs = new Set(['cli', 'lab', 'tools']);
const development = new Set(['lab', 'test', 'tools']);
/** Measurement programs may import the packages directly. */
const measuring = /^lab\/(bench|chaos|cost|feed|scale)\//;
/** Files that may read environment variables; all other files receive a configuration. */
const environmentReaders =
  /^(libs\/(infrastructure\/config|product\/servers|product\/testing)\/|cli\/|lab\/|tools\/|test\/)/;

/** Returns one line per forbidden import: `path: what`. */
export function findBorderViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found = listImports(file.text).flatMap(({ specifier }) => checkImport(file.path, specifier));
    if (/\bprocess\.env\b/.test(file.text) && !environmentReaders.test(file.path) && !isTest(file.path)) {
      found.push('reads process.env; settings come through #libs/infrastructure/config');
    }
    return found.map((what) => `${file.path}: ${what}`);
  });
}

function checkImport(path: string, specifier: string): string[] {
  if (specifier.startsWith('.')) return checkRelative(path, specifier);
  if (specifier.startsWith('#services/')) {
    return path.startsWith('libs/') && !isTest(path) ? [`a library imports ${specifier}`] : [];
  }
  if (specifier === '#libs/product/testing' && !isTest(path)) return ['imports #libs/product/testing outside tests'];
  if (specifier === '#libs/product/servers' && !isTest(path) && !development.has(findUnit(path)))
    return ['imports #libs/product/servers, which is not in the image'];
  if (specifier.startsWith('#libs/product/') && path.startsWith('libs/infrastructure/') && !isTest(path))
    return [`a library of the infrastructure imports ${specifier}`];
  const name = nameOutside(specifier);
  return name === undefined || isTest(path) || measuring.test(path) ? [] : checkPackage(findUnit(path), name);
}

/**
 * Returns the package name, or the separately listed entry point; undefined for files of the repository and Node
 * modules.
 */
export function nameOutside(specifier: string): string | undefined {
  return owners.has(specifier) ? specifier : /^(?:@[\w.-]+\/)?\w[\w.-]*(?=\/|$)/.exec(specifier)?.[0];
}

/** Programs may import a package unless a library owns it. */
function checkPackage(part: string, name: string): string[] {
  const owner = owners.get(name);
  if (owner === part || (programs.has(part) && owner?.startsWith('libs/') !== true)) return [];
  return [`imports ${name}, which ${owner === undefined ? 'no part' : `only ${owner}`} may`];
}

function checkRelative(path: string, specifier: string): string[] {
  const target = normalize(join(dirname(path), specifier));
  const [from, to] = [findUnit(path), findUnit(target)];
  if (from === to || isTestFile(path)) return [];
  if (programs.has(from) && (development.has(from) || !(development.has(to) || to === 'libs/product/servers')))
    return [];
  return [`imports ${specifier} of ${to}; other parts are reached through #libs and #services`];
}

/** Returns `services/<name>`, `libs/<group>/<name>` or the top-level folder. */
function findUnit(path: string): string {
  const [top = '', ...names] = path.split('/');
  if (top === 'libs') return [top, ...names.slice(0, 2)].join('/');
  return top === 'services' ? `${top}/${names[0]}` : top;
}

function isTestFile(path: string): boolean {
  return path.startsWith('test/') || path.endsWith('.test.ts');
}

/** Returns whether the file is a test or belongs to the library that only tests use. */
function isTest(path: string): boolean {
  return isTestFile(path) || path.startsWith('libs/product/testing/');
}
