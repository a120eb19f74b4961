/**
 * Makes the streams of the platform, or brings them up to date: `node tools/streams.ts` with NATS_URL of a user that may. Run by a job
 * beside the migrations; running it again changes nothing.
 */
import { ConfigError, loadConfig, logSettings, natsSettings } from '#libs/config';
import { Type } from '#libs/contract';
import { createLogger, type Logger } from '#libs/logger';
import { connectBus } from '#libs/nats';

/** Of one installation; its user may create streams. @throws AppError unavailable */
export async function makeStreams(settings: { url: string; prefix: string; logger: Logger }): Promise<void> {
  const bus = await connectBus({ ...settings, name: 'streams' });
  try {
    await bus.ensureStreams();
  } finally {
    await bus.close();
  }
}

if (import.meta.main) {
  try {
    const config = loadConfig(Type.Object({ ...natsSettings, ...logSettings }));
    const logger = createLogger({ service: 'streams', level: config.LOG_LEVEL });
    await makeStreams({ url: config.NATS_URL, prefix: config.NATS_SUBJECT_PREFIX, logger });
    logger.info('the streams are there');
  } catch (error) {
    process.stderr.write(
      `streams: ${error instanceof ConfigError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
    );
    process.exitCode = 1;
  }
}
