/** Deletes the logos of deleted holons (rules/media#logo; D51). */
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler } from '#libs/infrastructure/jobs';
import type { Dependencies } from '../dependencies.ts';
import { scheduleBlobDeletion } from '../files.ts';
import type { logoJobs } from './contract.ts';
import { lockLogo, retireLogo } from './statements.ts';

type LogoWorkers = { readonly [K in keyof typeof logoJobs]: JobHandler<PayloadOf<(typeof logoJobs)[K]>> };

export function createLogoWorkers(deps: Pick<Dependencies, 'jobs' | 'config'>): LogoWorkers {
  return {
    retireLogo: async (run) => {
      const holonId = run.payload.holon_id;
      await run.complete(async (tx) => {
        await lockLogo(tx, { holonId });
        const retired = await retireLogo(tx, { holonId });
        await scheduleBlobDeletion(
          deps,
          tx,
          retired.map(({ id }) => id),
        );
      });
    },
  };
}
