/**
 * Creates or updates the streams of the platform: `node tools/streams.ts` with NATS_URL of an administrator. It is
 * idempotent, and a job runs it beside the migrations. It first checks that the NATS users whose addresses are set
 * (`NATS_URL_<SERVICE>`) have the permissions of this release.
 */
import {
  ConfigError,
  loadConfig,
  logSettings,
  natsSettings,
  buildNatsUrl,
  readEnvironment,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import {
  connectBus,
  maxReplicas,
  streamNames,
  streams,
  type StreamLimits,
  type StreamName,
} from '#libs/infrastructure/nats';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import { checkNatsUsers } from '../cli/doctor/nats-users.ts';
import { brokerTarget } from '../cli/doctor/servers.ts';
import { describeSetupFailure } from '../cli/doctor/setup-failure.ts';

type LimitName = `NATS_STREAM_${StreamName}_MAX_BYTES`;

/** A stream must have space for several messages of maximum size. */
export const fewestBytes = 16 * 1024 * 1024;
const nameOf = (stream: StreamName): LimitName => `NATS_STREAM_${stream}_MAX_BYTES`;
const limitOf = (stream: StreamName) =>
  Type.Integer({
    default: streams[stream].maxBytes,
    minimum: fewestBytes,
    description: `maximum size of the stream ${stream} in bytes, reserved by NATS`,
  });

const limits = Object.fromEntries(streamNames.map((stream) => [nameOf(stream), limitOf(stream)])) as Record<
  LimitName,
  ReturnType<typeof limitOf>
>;
const replicas = {
  NATS_STREAM_REPLICAS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxReplicas,
      description:
        'NATS servers that store each stream, 3 to survive the loss of one; unset = unchanged, 1 for a new stream',
    }),
  ),
};
/** Settings of the set-up of streams. */
export const streamSettings = Type.Object({ ...natsSettings, ...logSettings, ...limits, ...replicas });

/** Returns the maximum size of each stream in bytes. @throws ConfigError for an invalid setting */
export function readStreamLimits(env: Readonly<Record<string, string | undefined>>): StreamLimits {
  const config = loadConfig(Type.Object(limits), env);
  return Object.fromEntries(streamNames.map((stream) => [stream, config[nameOf(stream)]]));
}

/** Returns the number of replicas of each stream; undefined = unchanged. @throws ConfigError for an invalid setting */
export function readStreamReplicas(env: Readonly<Record<string, string | undefined>>): number | undefined {
  return loadConfig(Type.Object(replicas), env).NATS_STREAM_REPLICAS;
}

/** Creates or updates the streams of one installation. @throws AppError `unavailable` when NATS cannot be reached */
export async function makeStreams(settings: {
  url: string;
  prefix: string;
  logger: Logger;
  limits?: StreamLimits;
  replicas?: number | undefined;
  connectTimeoutMs?: number;
}): Promise<void> {
  const { limits, replicas, ...connection } = settings;
  const bus = await connectBus({ ...connection, name: 'streams' });
  try {
    await bus.ensureStreams(limits, replicas);
  } finally {
    await bus.close();
  }
}

if (import.meta.main) {
  let env: Readonly<Record<string, string | undefined>> = process.env;
  try {
    env = readEnvironment();
    const config = loadConfig(streamSettings, env);
    const logger = createLogger({ service: 'streams', level: config.LOG_LEVEL });
    const { checked, problems } = await checkNatsUsers(env);
    if (problems.length > 0) throw new ConfigError(problems);
    if (checked.length > 0) logger.info({ users: checked }, 'the users of NATS have the permissions of this release');
    await makeStreams({
      url: buildNatsUrl(config),
      prefix: config.NATS_SUBJECT_PREFIX,
      logger,
      limits: readStreamLimits(env),
      replicas: readStreamReplicas(env),
    });
    logger.info('the streams are there');
  } catch (error) {
    process.stderr.write(`streams: ${await describeSetupFailure(error, () => brokerTarget(buildNatsUrl(env)))}\n`);
    process.exitCode = 1;
  }
}
