/**
 * Overview of the platform (P1): reports of all services and the state of the broker. Used by the API and the admin
 * CLI, which query in different ways.
 */
import type { ProcessStatus, ReplyOf, ServiceStatus, statusRpcs } from '#libs/infrastructure/contract';
import { redactJson } from '#libs/infrastructure/redaction';
import { releaseVersion } from '#libs/infrastructure/release';
import { formatInstant, systemClock } from '#libs/infrastructure/time';

/** Report of one process. The report of the gateway has no jobs and no consumers. */
type Status = ProcessStatus & Partial<ServiceStatus>;
type ServiceReport = ReplyOf<ReturnType<typeof statusRpcs>['describeService']>;
type Consumer = Omit<ServiceReport['consumers'][number], 'stream'>;

interface QueriedService {
  readonly name: string;
  /** Absent when the service did not respond. */
  readonly status?: Status | undefined;
}

interface ServiceState {
  readonly name: string;
  readonly ready: boolean;
  readonly version: string | null;
  readonly uptime_seconds: number | null;
  readonly missing: string[];
}

export interface Overview {
  /** Release of the calling process. */
  readonly version: string;
  readonly generated_at: string;
  readonly services: ServiceState[];
  readonly dependencies: { name: string; ready: boolean; detail: string | null }[];
  readonly jobs: ({ service: string } & ServiceReport['jobs'][number])[];
  readonly webhooks: NonNullable<ServiceReport['webhooks']>;
  readonly streams: { name: string; messages: number; bytes: number; consumers: Consumer[] }[];
  readonly logins: { failed_last_hour: number };
}

/** Combines the reports. Services that did not respond are marked, and streams that did not respond are omitted. */
export async function composeOverview<Service extends string, Stream extends string>(parts: {
  readonly services: readonly Service[];
  readonly describe: (service: Service) => Promise<Status>;
  readonly streams: readonly Stream[];
  readonly streamSize: (stream: Stream) => Promise<{ readonly messages: number; readonly bytes: number }>;
}): Promise<Overview> {
  const [sizes, all] = await Promise.all([
    Promise.all(
      parts.streams.map(async (name) => ({ name, size: await parts.streamSize(name).catch(() => undefined) })),
    ),
    Promise.all(
      parts.services.map(async (name): Promise<QueriedService> => ({
        name,
        status: await parts.describe(name).catch(() => undefined),
      })),
    ),
  ]);
  const consumers = all.flatMap(({ status }) => status?.consumers ?? []);
  return {
    version: releaseVersion,
    generated_at: formatInstant(systemClock.now()),
    services: all.map(describeService),
    dependencies: listDependencies(all),
    jobs: all.flatMap(({ name, status }) => (status?.jobs ?? []).map((count) => ({ service: name, ...count }))),
    webhooks: all.flatMap(({ status }) => status?.webhooks ?? []),
    streams: sizes.flatMap(({ name, size }) =>
      size === undefined
        ? []
        : [
            {
              name,
              messages: size.messages,
              bytes: size.bytes,
              consumers: consumers
                .filter(({ stream }) => stream === name)
                .map(({ stream: _stream, ...consumer }) => consumer),
            },
          ],
    ),
    logins: { failed_last_hour: all.reduce((sum, { status }) => sum + (status?.failed_logins ?? 0), 0) },
  };
}

function describeService({ name, status }: QueriedService): ServiceState {
  if (status === undefined) return { name, ready: false, version: null, uptime_seconds: null, missing: [name] };
  const { ready, version, uptime_seconds: uptime, checks } = status;
  return {
    name,
    ready,
    version,
    uptime_seconds: uptime,
    missing: checks.filter(({ problem }) => problem !== null).map((check) => check.name),
  };
}

/**
 * Returns the dependencies with the problems that services report. The texts are redacted, since they can contain a URL
 * with a password.
 */
function listDependencies(all: readonly QueriedService[]): Overview['dependencies'] {
  const names = new Set(all.flatMap(({ status }) => (status?.checks ?? []).map(({ name }) => name)));
  return [...names].map((name) => {
    const problems = all.flatMap(({ name: service, status }) =>
      (status?.checks ?? [])
        .filter((check) => check.name === name && check.problem !== null)
        .map(({ problem }) => `${service}: ${problem}`),
    );
    return {
      name,
      ready: problems.length === 0,
      detail: problems.length === 0 ? null : (redactJson(problems.join('; ')) as string),
    };
  });
}
