/** `doctor`: checks every dependency and reports problems (rules/cli#admin-cli). */
import type { Command } from 'commander';
import { buildDatabaseUrl, buildNatsUrl } from '#libs/config';
import { conversationAccess, jobAdminRpcs } from '#libs/contract';
import { AppError } from '#libs/errors';
import { reachableAddress } from '#libs/lifecycle';
import { streams, type Bus, type StreamName } from '#libs/nats';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { CliContext } from './context.ts';
import { CliError, describeFailure } from './failure.ts';
import { toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { examineRestored, printRestored } from './doctor/after-restore.ts';
import { checkIssuer } from './doctor/issuer.ts';
import { checkNatsUsers } from './doctor/nats-users.ts';
import { checkBroker, checkDatabase, checkStore } from './doctor/servers.ts';

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** False for dependencies of optional features. */
  readonly needed: boolean;
  readonly detail: string;
}

/** Services with jobs. Listing its jobs checks a service and its database. */
const workers = ['directory', 'conversations', 'transcripts', 'media', 'events'] as const;
const maxDeadJobs = 1_000;
const maxLinks = 20;

export function register(doctor: Command, context: CliContext): void {
  doctor
    .option(
      '--after-restore',
      'repair state after a database restore: run it once before the services start, and once after',
    )
    .action(async ({ afterRestore }: { afterRestore?: true }) => {
      if (afterRestore === true) return printRestored(context, await examineRestored(context));
      const findings = await examine(context);
      const wrong = findings.filter(({ ok, needed }) => needed && !ok);
      const summary = findings.every(({ ok }) => ok) ? 'All is well.' : 'All is well; some optional parts are off.';
      context.print(findings, table(findings, columns, ''), ...(wrong.length === 0 ? [summary] : []));
      if (wrong.length > 0) throw new CliError(`Problems found: ${wrong.map(({ name }) => name).join(', ')}.`);
    });
}

const columns = {
  STATE: ({ ok, needed }: Finding) =>
    ok ? toned('ok', 'good') : needed ? toned('WRONG', 'bad') : toned('off', 'wait'),
  WHAT: ({ name }: Finding) => name,
  DETAIL: ({ detail }: Finding) => detail,
};

async function examine(context: CliContext): Promise<Finding[]> {
  const { DATABASE_URL: database, NATS_URL: nats, S3_ENDPOINT: store, OIDC_ISSUER: issuer } = context.settings();
  const allowedHosts = context.setting('OUTBOUND_ALLOWED_HOSTS') ?? '';
  const servers = await Promise.all([
    check('NATS', () =>
      nats === undefined ? context.bus().then(() => '') : checkBroker(buildNatsUrl(context.settings())),
    ),
    check('PostgreSQL', () =>
      database === undefined
        ? unchecked('DATABASE_URL', 'checked through the services')
        : checkDatabase(buildDatabaseUrl(context.settings())),
    ),
    check('object store', () => (store === undefined ? unchecked('S3_ENDPOINT') : checkStore(context.settings()))),
    check('gateway', () => checkGateway(context)),
    check('identity provider', () =>
      issuer === undefined
        ? unchecked('OIDC_ISSUER', 'people log in with email and password')
        : checkIssuer(issuer, allowedHosts),
    ),
  ]);
  const optional = [
    await checkOptional('language model', () => checkModel(context)),
    await checkOptional('meeting provider', () => checkProvider(context)),
  ];
  if (servers[0] === undefined || !servers[0].ok) return [...servers, ...optional];
  const bus = await context.bus();
  const rest = await Promise.all([
    check('NATS users', () => checkUsers(context)),
    ...(Object.keys(streams) as StreamName[]).map((name) => check(`stream ${name}`, () => checkStream(bus, name))),
    ...workers.map((name) => check(`service ${name}`, () => checkWorker(context, name))),
    check('service agents', () => checkAgents(context)),
    check('conversation access', () => checkAccess(context)),
    check('links', () => checkLinks(context)),
    checkOptional('ffmpeg', () => checkFfmpeg(context)),
    checkOptional('transcripts of the provider', () => checkTranscriptFormat(context)),
  ]);
  return [...servers, ...rest, ...optional];
}

const unchecked = (setting: string, instead?: string): Promise<string> =>
  Promise.resolve(`not checked: ${setting} is not set here${instead === undefined ? '' : `; ${instead}`}`);

const checkOptional = async (name: string, work: () => Promise<string>): Promise<Finding> => ({
  ...(await check(name, work)),
  needed: false,
});

async function check(name: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return { name, ok: true, needed: true, detail: await work() };
  } catch (error) {
    return { name, ok: false, needed: true, detail: describeFailure(error).split('\n')[0] ?? '' };
  }
}

/**
 * Checks the NATS users whose addresses are set here. A running service that lacks a permission is not ready, and
 * reports the permission.
 */
async function checkUsers(context: CliContext): Promise<string> {
  const { checked, problems } = await checkNatsUsers(context.settings());
  if (problems.length > 0) throw new CliError(problems.join('; '));
  return checked.length === 0
    ? unchecked('NATS_URL_<SERVICE>')
    : `have the permissions that this release needs: ${checked.join(', ')}`;
}

async function checkStream(bus: Bus, name: StreamName): Promise<string> {
  const { messages, bytes, maxBytes } = await bus.streamSize(name);
  if (maxBytes < 0) throw new CliError('has no size limit; run tools/streams.ts');
  return `${messages} messages, ${bytes} of ${maxBytes} bytes`;
}

async function checkWorker(context: CliContext, name: (typeof workers)[number]): Promise<string> {
  const { items } = await context.call(jobAdminRpcs(name).adminListJobs, { state: 'dead', limit: maxDeadJobs });
  if (items.length === 0) return 'answers';
  const types = [...new Set(items.map(({ type }) => type))].join(', ');
  return `answers; ${items.length === maxDeadJobs ? 'at least ' : ''}${items.length} dead jobs (${types}): see \`jobs list --state dead\``;
}

/** Finds links that were stored before links were validated; browsers may execute some of them. */
async function checkLinks(context: CliContext): Promise<string> {
  const { items } = await context.call(directory.rpcs.listRefusedLinks, {});
  const problems = items.slice(0, maxLinks).map(({ kind, id, field, problem }) => `${kind} ${id} ${field} ${problem}`);
  if (items.length > maxLinks) problems.push(`${items.length - maxLinks} more`);
  if (items.length > 0) throw new CliError(problems.join('; '));
  return 'all valid';
}

/** Reports the setting for conversation access, of which both values are valid (D92). */
async function checkAccess(context: CliContext): Promise<string> {
  const { access } = await context.call(conversations.rpcs.describeAccess, {});
  return `${conversationAccess[access]} (CONVERSATION_ACCESS)`;
}

/** Checks ffmpeg, with which the media service trims recordings. */
async function checkFfmpeg(context: CliContext): Promise<string> {
  const { ffmpeg, hint } = await context.call(media.rpcs.describeTools, {});
  if (ffmpeg === null) throw new CliError(hint ?? 'the media service cannot run it');
  return ffmpeg;
}

/** Reports the provider's transcript format. CSV rows have no end times, so they are not imported (D86). */
async function checkTranscriptFormat(context: CliContext): Promise<string> {
  const { latest } = await context.call(transcripts.rpcs.findLatestFormat, {});
  if (latest === null) return 'none imported yet';
  const { conversation_id: id, format, read_at: readAt } = latest;
  if (format === 'csv')
    throw new CliError(
      `the latest one, of conversation ${id} (${readAt}), was CSV although JSON was requested. CSV rows have no end times, so ` +
        'nothing was imported. Ask the provider why JSON is not available, then run `conversations import-transcript` again',
    );
  return format === 'json' ? 'JSON' : 'CSV with end times';
}

/** Requests an agent that cannot exist, which checks the service and its database. */
async function checkAgents(context: CliContext): Promise<string> {
  try {
    await context.call(agents.rpcs.getAgent, { slug: '-doctor-' });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  }
  return 'answers';
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
    throw error instanceof CliError ? error : new CliError(`no reply from ${url}`);
  }
}

/** Checks the language model, which chats and summaries need. */
async function checkModel(context: CliContext): Promise<string> {
  const { LLM_BASE_URL: url, LLM_MODEL: model, DEMO_MODEL: demo } = context.settings();
  if (demo !== undefined)
    throw new CliError(
      'the demo model is active. For a real one set LLM_BASE_URL, LLM_MODEL and LLM_API_KEY and restart',
    );
  return url === undefined ? unchecked('LLM_BASE_URL') : `${model ?? 'the default model'} of ${new URL(url).host}`;
}

/** Checks the meeting provider, which imports of recorded meetings need. */
async function checkProvider(context: CliContext): Promise<string> {
  const { REALTIMEKIT_BASE_URL: url, DEMO_PROVIDER_PORT: demo } = context.settings();
  if (demo !== undefined)
    throw new CliError(
      'not configured, so imports of recorded meetings wait. Set REALTIMEKIT_BASE_URL and REALTIMEKIT_API_TOKEN; `npm run demo` simulates a provider',
    );
  return url === undefined ? unchecked('REALTIMEKIT_BASE_URL') : `configured: ${new URL(url).host}`;
}
