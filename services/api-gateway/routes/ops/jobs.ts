/** Jobs of all services (P2, P3). */
import { jobDetailsSchema, jobSchema, jobStates, maxJobIds, route, Type } from '#libs/contract';
import { anyId, badCursor, choiceErrors, chosen, instant, mergedPageOf, missing, page } from './filters.ts';

const root = '/api/ops/jobs';
const service = Type.String({ description: 'Service that works it.' });
const jobItem = Type.Object({ service, ...jobSchema.properties });
const jobDetails = Type.Object({ service, ...jobDetailsSchema.properties });

const filter = {
  service: Type.Enum(['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'], { description: 'Jobs of this service.' }),
  type: Type.String({ minLength: 1, maxLength: 200, description: 'For example `transcripts.transcript-import`.' }),
  state: Type.Enum([...jobStates], { description: 'Jobs in this state.' }),
  key: Type.String({ minLength: 1, maxLength: 500, description: 'Jobs of this key.' }),
  error: Type.String({ minLength: 1, maxLength: 200, description: 'Jobs whose error contains this; case matters.' }),
  conversation_id: anyId('Jobs whose payload names the conversation.'),
  request_id: Type.String({ minLength: 1, maxLength: 200, description: 'Jobs that a request has caused.' }),
  created_after: instant('Jobs that were asked for then or later.'),
  created_before: instant('Jobs that were asked for before.'),
};

const choice = {
  schema: chosen(
    filter,
    Type.Object({ service: Type.String({ maxLength: 100 }), id: Type.String({ maxLength: 100, description: 'Id of a job.' }) }),
    maxJobIds,
  ),
};
const changed = {
  200: {
    description: 'What was done, or with `dry_run` would be.',
    schema: Type.Object({
      matched: Type.Integer({ description: 'Jobs that the act could change.' }),
      changed: Type.Integer({ description: 'Jobs that it has changed; 0 in a dry run.' }),
      failed: Type.Integer({ description: 'Ids without a job, and jobs whose attempt was just ending.' }),
      items: Type.Array(jobItem, { description: 'The first hundred that matched, newest first, as they are now.' }),
      ...missing,
    }),
  },
};
const access = { auth: 'ops-act', scope: 'ops:write', tag: 'operations', deadlineMs: 60_000, errors: choiceErrors } as const;

export const jobRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listJobs',
    tag: 'operations',
    summary: 'List jobs',
    description: 'The jobs of all services, newest first. Succeeded and cancelled ones are kept for a week, dead ones until somebody acts.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({ ...Type.Partial(Type.Object(filter)).properties, ...page }),
    handler: 'ops-jobs',
    replies: { 200: { description: 'A page of jobs.', schema: mergedPageOf(jobItem) } },
    errors: badCursor,
  }),
  route({
    method: 'GET',
    path: `${root}/{service}/{job_id}`,
    operationId: 'getJob',
    tag: 'operations',
    summary: 'Read one job',
    description: 'With payload, result and every attempt. Secrets are replaced by `[redacted]`.',
    auth: 'ops',
    scope: 'ops:read',
    params: Type.Object({ service, job_id: Type.String({ description: 'Id of the job.' }) }),
    handler: 'ops-job',
    etag: true,
    replies: { 200: { description: 'The job.', schema: jobDetails } },
    errors: { not_found: { code: 'not_found', when: 'The job does not exist.' } },
  }),
  route({
    method: 'POST',
    path: `${root}/redrive`,
    operationId: 'redriveJobs',
    summary: 'Queue dead jobs again',
    description: 'With all their attempts: those that match, or those named. What somebody has cancelled is queued again only by its id.',
    ...access,
    body: choice,
    handler: 'ops-redrive',
    replies: changed,
  }),
  route({
    method: 'POST',
    path: `${root}/cancel`,
    operationId: 'cancelJobs',
    summary: 'Cancel jobs',
    description:
      'Queued and running ones that match, or those named: an attempt that runs is broken off. A dead job is given up where its id or the state `dead` is named.',
    ...access,
    body: choice,
    handler: 'ops-cancel',
    replies: changed,
  }),
];
