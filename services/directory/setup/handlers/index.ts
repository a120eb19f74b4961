/** Handlers of set-up over the open API (W5). */
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { setupRpcs } from '../contract.ts';
import { createClassSetupHandlers } from './classes.ts';
import { createJourneySetupHandlers } from './journeys.ts';
import { createQuestionSetupHandlers } from './questions.ts';
import type { SetupDependencies } from './shared.ts';
import { createStepSetupHandlers } from './steps.ts';

export function createSetupHandlers(deps: SetupDependencies): HandlersOf<typeof setupRpcs> {
  return {
    ...createClassSetupHandlers(deps),
    ...createJourneySetupHandlers(deps),
    ...createStepSetupHandlers(deps),
    ...createQuestionSetupHandlers(deps),
  };
}
