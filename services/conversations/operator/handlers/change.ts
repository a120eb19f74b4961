/** Commands of the admin CLI (rules/cli#admin-cli; D6, D7a, D29). */
import { recordAudit } from '#libs/audit';
import type { ReplyOf, RequestOf } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { CachedHolon } from '../../directory-cache/index.ts';
import { tellUpdated } from '../../feed/index.ts';
import { requireId } from '../../ids.ts';
import { addNote } from '../../notes/index.ts';
import { enterStep, transcriptImportJob } from '../../pipeline/index.ts';
import { findConversationId, findConversation, lockConversation, moveConversation } from '../../statements.ts';
import { connectHolon, disconnectHolon } from '../statements.ts';

type Rpcs = typeof conversations.rpcs;

/** Moves to a step of the journey, archived or not; noted with the operator. @throws AppError 404, 404 `step_not_found` */
export async function move(
  { db, jobs, eventOutbox, directory, pipeline }: Dependencies,
  request: RequestOf<Rpcs['adminMove']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminMove']>> {
  const id = requireId(request.conversation_id);
  const row = await findConversation(db, { id });
  if (row === undefined) throw notFound();
  const journey = row.journey_id === null ? undefined : (await directory.journeys.getMany([row.journey_id])).get(row.journey_id);
  const target = journey?.steps.find((step) => step.slug === request.step_slug);
  if (target === undefined) throw appError('not_found', 'step_not_found', `The conversation's journey has no step "${request.step_slug}".`);
  return jobs.transaction(async (tx) => {
    const locked = await lockConversation(tx, { id });
    if (locked === undefined) throw notFound();
    const from = journey?.steps.find((step) => step.id === locked.step_id);
    const reply = { conversation_id: id, from: from?.slug ?? '', to: target.slug };
    if (locked.step_id === target.id) return { ...reply, changed: false };
    await moveConversation(tx, { id, to: target.id, from: locked.step_id });
    const body = `Moved by ${request.operator}: ${from?.title ?? 'no step'} → ${target.title}`;
    await addNote(tx, { conversationId: id, key: null, type: 'step_change', body, authorPersonId: null });
    await enterStep({ jobs, eventOutbox, pipeline }, tx, id, { journey, step: target }, 'command', context);
    await jobs.emit(tx, conversations.events.changed, { id });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { from: reply.from, to: reply.to } });
    return { ...reply, changed: true };
  });
}

/** @throws AppError 404, 404 `holon_not_found` */
export async function connect(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['adminConnect']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminConnect']>> {
  return link(dependencies, request, connectHolon, context);
}

/** @throws AppError 404, 404 `holon_not_found` */
export async function disconnect(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['adminDisconnect']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminDisconnect']>> {
  return link(dependencies, request, disconnectHolon, context);
}

async function link(
  dependencies: Dependencies,
  request: { conversation_id: number; holon_slug: string },
  change: typeof connectHolon,
  context: RequestContext,
): Promise<{ conversation_id: number; changed: boolean }> {
  const { db, jobs, eventOutbox } = dependencies;
  const id = requireId(request.conversation_id);
  if ((await findConversationId(db, { id })) === undefined) throw notFound();
  const holon = await requireHolon(dependencies, request.holon_slug);
  const changed = await jobs.transaction(async (tx) => {
    const row = await change(tx, { id, holonId: holon.id });
    if (row === undefined) return false;
    tellUpdated(eventOutbox, tx, id);
    await jobs.emit(tx, conversations.events.changed, { id });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { holon_id: holon.id } });
    return true;
  });
  return { conversation_id: id, changed };
}

async function requireHolon({ directory }: Dependencies, slug: string): Promise<CachedHolon> {
  const holon = await directory.findHolonBySlug(slug);
  if (holon === undefined) throw appError('not_found', 'holon_not_found', `No holon has the slug "${slug}".`);
  return holon;
}

/** Starts the importer now, whatever the step. @throws AppError 404 */
export async function importTranscript(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['adminImportTranscript']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminImportTranscript']>> {
  const id = requireId(request.conversation_id);
  const row = await findConversation(db, { id });
  if (row === undefined) throw notFound();
  const payload = { conversation_id: id, step_id: row.step_id, cause: 'command' };
  const jobId = await jobs.transaction(async (tx) => {
    const job = await jobs.enqueue(tx, transcriptImportJob, payload, { requestId: context.requestId });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { job } });
    return job;
  });
  return { conversation_id: id, job_id: jobId };
}
