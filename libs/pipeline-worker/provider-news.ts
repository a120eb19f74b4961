/** Pipeline jobs that wait for the meeting provider are run at once when it reports something of their meeting; polling goes on anyway. */
import type { DurableConsumer, Event } from '#libs/contract';
import type { Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { type Bus, followEvent, type RunningConsumer } from '#libs/nats';
import { jobOf, type PipelineRegistry } from '#libs/pipeline';

/** Follows the event, which carries a `conversation_id`, by the service's declared consumer. */
export async function consumeProviderNews(deps: {
  readonly service: string;
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'wake'>;
  readonly logger: Logger;
  readonly registry: PipelineRegistry;
  readonly consumer: DurableConsumer;
  readonly meetingReported: Event;
}): Promise<RunningConsumer> {
  const { service, jobs, logger, registry, consumer, meetingReported } = deps;
  const waiting = [...registry.values()]
    .filter((item) => item.waitsForProvider === true && item.jobType.startsWith(`${service}.`))
    .map(jobOf);
  // What was reported while no replica ran may be gone (D97).
  for (const declaration of waiting) await jobs.wake(declaration, {});
  return await followEvent(deps, consumer, meetingReported, async (payload) => {
    const { conversation_id } = payload as { conversation_id: number };
    for (const declaration of waiting) {
      const woken = await jobs.wake(declaration, { conversation_id });
      if (woken > 0)
        logger.info({ job: declaration.type, conversationId: conversation_id, woken }, 'the provider reported; not waiting longer');
    }
  });
}
