/** What the conversations service knows of the history of a conversation (rules/conversations#timeline; W9, W23). */
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { listFailedJobs } from '#libs/infrastructure/jobs';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { refusedOutcomes } from '../receipts/contract.ts';
import { parseRoom } from '../room/index.ts';
import { findConversation } from '../statements.ts';
import { listBoundaries, listPublishing, toFact } from './rules.ts';
import { listMoments } from './statements.ts';

type Rpc = typeof conversations.rpcs.readTimeline;

/** Maximum number of moments of each kind of source. */
const maxMoments = 1_000;

export function createTimelineHandlers(deps: Dependencies): Pick<Operations, 'readTimeline'> {
  return { readTimeline: (request) => read(deps, request) };
}

/** @throws AppError 404 */
async function read({ db, directory }: Dependencies, request: RequestOf<Rpc>): Promise<ReplyOf<Rpc>> {
  const id = requireId(request.conversation_id);
  const row = await findConversation(db, { id });
  if (row === undefined) throw notFound();
  const [moments, failed, journeys] = await Promise.all([
    listMoments(db, { id, refused: [...refusedOutcomes], limit: maxMoments }),
    listFailedJobs(db, id),
    directory.journeys.getMany(row.journey_id === null ? [] : [row.journey_id]),
  ]);
  const findPerson = await directory.people.lookUp(moments.flatMap(({ person_id: person }) => person ?? []));
  const journey = journeys.get(row.journey_id ?? 0);
  const names = {
    findPerson,
    findStep: (stepId: number) => journey?.steps.find((step) => step.id === stepId),
    findQuestion: (questionId: number) => journey?.questionTexts.get(questionId),
  };
  const infos = parseJson(row.infos);
  const items = [
    ...moments.map((moment) => toFact(moment, names)),
    ...listBoundaries(parseRoom(row.room)),
    ...listPublishing(isJsonObject(infos) ? infos['publishing'] : undefined),
    ...failed,
  ];
  return { items };
}
