/** `doctor`: checks every dependency and reports problems (rules/cli#admin-cli). */
import type { Command } from 'commander';
import { buildDatabaseUrl, buildNatsUrl } from '#libs/infrastructure/config';
import { type Finding, statusRpcs } from '#libs/infrastructure/contract';
import { reachableAddress } from '#libs/infrastructure/lifecycle';
import { streams, type Bus, type StreamName } from '#libs/infrastructure/nats';
import type { CliContext } from './context.ts';
import { CliError, describeFailure } from './failure.ts';
import { toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { examineRestored, printRestored } from './doctor/after-restore.ts';
import { checkIssuer } from './doctor/issuer.ts';
import { checkNatsUsers } from './doctor/nats-users.ts';
import { checkBroker, checkDatabase, checkStore } from './doctor/servers.ts';
import { serviceNames } from './services.ts';

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
  ]);
  const services = await Promise.all(serviceNames.map((name) => checkService(context, name)));
  const findings = services.flatMap((found) => found.slice(1)); // after the services themselves
  return [...servers, ...rest, ...services.flatMap((found) => found.slice(0, 1)), ...findings, ...optional];
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

/** Checks a service with its database, and returns what it found itself. */
async function checkService(context: CliContext, service: string): Promise<Finding[]> {
  const own: Finding[] = [];
  const answer = await check(`service ${service}`, async () => {
    const { jobs, findings } = await context.call(statusRpcs(service).adminDescribeService, {});
    own.push(...findings);
    const dead = jobs.filter(({ state }) => state === 'dead');
    if (dead.length === 0) return 'answers';
    const count = dead.reduce((sum, { count: own }) => sum + own, 0);
    return `answers; ${count} dead jobs (${dead.map(({ type }) => type).join(', ')}): see \`jobs list --state dead\``;
  });
  return [answer, ...own];
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
