/** What other services ask in batches: people, holons, journeys, step configuration, notes. One statement each. */
import { appError, notFound } from '#libs/errors';
import { isJsonObject, parseJson } from '#libs/json';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database, Statement } from '#libs/orm';
import { dropUndeclared, pipelineJobs, validateStepConfig, type PipelineRegistry } from '#libs/pipeline';
import type { directory } from '../contract.ts';
import { getHolons } from '../repositories/holons.ts';
import { getJourneys } from '../repositories/journeys.ts';
import { listHolonNotes, listPersonNotes } from '../notes/statements.ts';
import { findPeopleByKeys } from '../repositories/people-keys.ts';
import { getPeople } from '../people/statements/read.ts';
import { findStepConfig } from '../steps/statements.ts';

type ReadHandlers = Pick<
  Handlers<typeof directory>,
  'getPeople' | 'findPeopleByKeys' | 'getHolons' | 'getJourneys' | 'getStepConfig' | 'listNotes'
>;

const defaultNotes = 1_000;

export function createReadHandlers(db: Database, registry: PipelineRegistry = pipelineJobs): ReadHandlers {
  async function readBody(statement: Statement, params: readonly unknown[]): Promise<ReturnType<typeof rawJson>> {
    const [row] = await db.query<{ body: string }>(statement, params);
    if (row === undefined) throw new Error(`${statement.name} returned no row`);
    return rawJson(row.body);
  }

  return {
    getPeople: ({ ids }) => readBody(getPeople, [ids]),
    findPeopleByKeys: ({ keys }) => readBody(findPeopleByKeys, [keys]),
    getHolons: ({ ids = [], slugs = [] }) => readBody(getHolons, [ids, slugs]),
    getJourneys: ({ ids = [], slugs = [] }) => readBody(getJourneys, [ids, slugs]),
    getStepConfig: async ({ step_id: stepId }) => {
      const [row] = await db.query<{ pipeline_job: string | null; config: string }>(findStepConfig, [stepId]);
      if (row === undefined) throw notFound();
      const stored = parseJson(row.config);
      const config = isJsonObject(stored) ? stored : {};
      const job = row.pipeline_job === null ? undefined : registry.get(row.pipeline_job);
      if (job === undefined) return { pipeline_job: row.pipeline_job, config };
      // Keys that the model no longer declares do not stop the job; a PATCH of the configuration asks for their removal (D16b).
      const result = validateStepConfig(job, dropUndeclared(job.config, config));
      if (Object.keys(result.problems).length > 0) {
        throw appError('bad_request', 'invalid_step_config', `The configuration of step ${stepId} does not fit ${job.name}.`, {
          fields: result.problems,
        });
      }
      return { pipeline_job: job.name, config: result.config };
    },
    listNotes: async ({ person_id: personId, holon_id: holonId, before = null, limit = defaultNotes }) => {
      if ((personId === undefined) === (holonId === undefined)) {
        throw appError('bad_request', 'invalid_request', 'Exactly one of person_id and holon_id must be given.');
      }
      return personId === undefined
        ? readBody(listHolonNotes, [holonId, limit, before])
        : readBody(listPersonNotes, [personId, limit, before]);
    },
  };
}
