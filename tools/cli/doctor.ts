/** `doctor`: checks every dependency and says what is wrong (architecture §7). */
import type { Command } from 'commander';
import { loadConfig, s3Settings } from '#libs/config';
import { jobAdminRpcs, Type } from '#libs/contract';
import { AppError } from '#libs/errors';
import { reachableAddress } from '#libs/lifecycle';
import { createLogger } from '#libs/logger';
import { requiredPayloadBytes, streams, type Bus, type StreamName } from '#libs/nats';
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { CliError, describeFailure, type CliContext } from './context.ts';

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Services that work jobs; listing them asks the service and, through it, PostgreSQL. */
const workers = ['directory', 'conversations', 'transcripts', 'media'] as const;
const mostDead = 1_000;
const mostLinks = 20;

export function register(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('Checks NATS, its streams, PostgreSQL, the object store, the gateway and every service')
    .option('--json', 'print a list of {name, ok, detail}')
    .action(async (options: { json?: true }) => {
      const findings = await examine(context);
      if (options.json === true) context.printJson(findings);
      else for (const { name, ok, detail } of findings) context.printLine(`${ok ? 'ok   ' : 'WRONG'}  ${name}: ${detail}`);
      const wrong = findings.filter(({ ok }) => !ok);
      if (wrong.length > 0) throw new CliError(`Not well: ${wrong.map(({ name }) => name).join(', ')}.`);
    });
}

async function examine(context: CliContext): Promise<Finding[]> {
  const nats = await check('NATS', async () => checkBroker(await context.bus()));
  const outside = await Promise.all([
    check('PostgreSQL', () => checkDatabase(context)),
    check('object store', () => checkStore(context)),
    check('gateway', () => checkGateway(context)),
  ]);
  if (!nats.ok) return [nats, ...outside];
  const bus = await context.bus();
  const rest = await Promise.all([
    ...(Object.keys(streams) as StreamName[]).map((name) => check(`stream ${name}`, () => checkStream(bus, name))),
    ...workers.map((name) => check(`service ${name}`, () => checkWorker(context, name))),
    check('service agents', () => checkAgents(context)),
    check('links', () => checkLinks(context)),
    check('ffmpeg', () => checkFfmpeg(context)),
  ]);
  return [nats, ...outside, ...rest];
}

async function check(name: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return { name, ok: true, detail: await work() };
  } catch (error) {
    return { name, ok: false, detail: describeFailure(error).split('\n')[0] ?? '' };
  }
}

async function checkBroker(bus: Bus): Promise<string> {
  await bus.ping();
  if (bus.maxPayload < requiredPayloadBytes) {
    throw new CliError(`allows messages of ${bus.maxPayload} bytes; set max_payload to at least ${requiredPayloadBytes}`);
  }
  return 'answers';
}

async function checkStream(bus: Bus, name: StreamName): Promise<string> {
  const { messages, bytes, maxBytes } = await bus.streamSize(name);
  if (maxBytes < 0) throw new CliError('holds any number of bytes; run tools/streams.ts');
  return `${messages} messages, ${bytes} of ${maxBytes} bytes`;
}

async function checkWorker(context: CliContext, name: (typeof workers)[number]): Promise<string> {
  const { items } = await context.call(jobAdminRpcs(name).jobsList, { state: 'dead', limit: mostDead });
  if (items.length === 0) return 'answers';
  const types = [...new Set(items.map(({ type }) => type))].join(', ');
  return `answers; ${items.length === mostDead ? 'at least ' : ''}${items.length} dead jobs (${types}): see \`jobs list --state dead\``;
}

/** Links from before they were checked: nothing takes them away, and browsers may run some of them. */
async function checkLinks(context: CliContext): Promise<string> {
  const { items } = await context.call(directory.rpcs.listRefusedLinks, {});
  const shown = items.slice(0, mostLinks).map(({ kind, id, field, problem }) => `${kind} ${id} ${field} ${problem}`);
  if (items.length > mostLinks) shown.push(`${items.length - mostLinks} more`);
  if (items.length > 0) throw new CliError(shown.join('; '));
  return 'lead where links may lead';
}

/** Recordings cannot be trimmed without it; asked of the media service, which runs it. */
async function checkFfmpeg(context: CliContext): Promise<string> {
  const { ffmpeg, hint } = await context.call(media.rpcs.describeTools, {});
  if (ffmpeg === null) throw new CliError(hint ?? 'cannot be run by the media service');
  return ffmpeg;
}

/** Asks for an agent that cannot exist: the answer comes from the service's database. */
async function checkAgents(context: CliContext): Promise<string> {
  try {
    await context.call(agents.rpcs.getAgent, { slug: '-doctor-' });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  }
  return 'answers';
}

async function checkDatabase(context: CliContext): Promise<string> {
  const url = context.setting('DATABASE_URL');
  if (url === undefined) return 'asked through the services only: DATABASE_URL is not set here';
  const { createDatabase } = await import('#libs/orm'); // slow to load, and only needed here
  const logger = createLogger({ service: 'cli', level: 'silent' });
  const db = await createDatabase({ url, schema: 'public', poolSize: 1, logger, applicationName: 'doctor', connectTimeoutMs: 3_000 });
  try {
    await db.ping();
    return 'answers';
  } finally {
    await db.close();
  }
}

async function checkGateway(context: CliContext): Promise<string> {
  const port = context.setting('PORT');
  if (port === undefined || port === '0') return 'not checked: PORT is not set here';
  const url = `http://${reachableAddress(context.setting('HOST') ?? '127.0.0.1', port)}/api/openapi.json`;
  try {
    const { status } = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(3_000) });
    if (status >= 500) throw new CliError(`answers ${status} on ${url}`);
    return `answers on port ${port}`;
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(`nobody answers on ${url}`);
  }
}

async function checkStore(context: CliContext): Promise<string> {
  if (context.setting('S3_ENDPOINT') === undefined) return 'not checked: S3_ENDPOINT is not set here';
  const { createObjectStore } = await import('#libs/object-store'); // slow to load, and only needed here
  const names = Object.keys(s3Settings);
  const config = loadConfig(Type.Object(s3Settings), Object.fromEntries(names.map((name) => [name, context.setting(name)])));
  const store = createObjectStore({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    forcePathStyle: config.S3_FORCE_PATH_STYLE,
  });
  try {
    await store.ping();
    return `answers, bucket ${config.S3_BUCKET}`;
  } finally {
    store.close();
  }
}
