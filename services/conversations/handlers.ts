/** One handler for each declared operation. */
import { auditHandlers } from '#libs/audit';
import type { Rpc, RequestOf } from '#libs/contract';
import { jobAdminHandlers } from '#libs/jobs';
import { isJsonObject } from '#libs/json';
import type { HandlerReply, RequestContext } from '#libs/nats';
import type { FeatureHandlers } from '#libs/service';
import * as audio from './conversation/handlers/lookup.ts';
import { bookingHint } from './booking/handlers.ts';
import { importConversations } from './bulk-import/handlers.ts';
import type { conversations } from './contract.ts';
import { findActive } from './conversation/handlers/find-or-create.ts';
import * as lookup from './conversation/handlers/lookup.ts';
import * as conversation from './conversation/handlers/read-and-patch.ts';
import * as deletion from './deletion/handlers.ts';
import type { Dependencies } from './dependencies.ts';
import * as browse from './discovery/handlers.ts';
import * as search from './discovery/handlers.ts';
import * as infos from './conversation/handlers/read-and-patch.ts';
import { listNotes } from './operator/handlers.ts';
import { createPipelineHandlers } from './pipeline/handlers.ts';
import * as operatorChange from './operator/handlers.ts';
import * as operatorView from './operator/handlers.ts';
import * as personData from './person-data/handlers.ts';
import { mergePerson } from './person-data/handlers.ts';
import { recordQuestionChange } from './questions/handlers.ts';
import * as receipts from './receipts/handlers.ts';
import { reconcileBookings } from './reconcile/handlers.ts';
import { recorded } from './conversation/handlers/recorded.ts';
import * as room from './room/handlers.ts';
import * as spoken from './transcript-search-scope/handlers.ts';

type Operation<R extends Rpc> = (dependencies: Dependencies, request: RequestOf<R>, context: RequestContext) => Promise<HandlerReply<R>>;

/**
 * The conversation that a request names as `conversation_id`, asked for before every operation (D69). `exists` and `describe` name it `id` and check it
 * themselves: other services ask by them for their callers.
 */
function conversationOf(request: unknown): number | undefined {
  const id: unknown = isJsonObject(request) ? request['conversation_id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}

export function createHandlers(dependencies: Dependencies): FeatureHandlers<typeof conversations> {
  const bind =
    <R extends Rpc>(operation: Operation<R>) =>
    async (request: RequestOf<R>, context: RequestContext) => {
      try {
        const id = conversationOf(request);
        if (id !== undefined) await dependencies.access.require(id, context);
        return await operation(dependencies, request, context);
      } catch (error) {
        throw dependencies.refusals.explain(error);
      }
    };
  return {
    ...jobAdminHandlers(dependencies.jobs),
    ...auditHandlers(dependencies.db),
    findActive: bind(findActive),
    get: bind(conversation.getConversation),
    patch: bind(conversation.patchConversation),
    recorded: bind(recorded),
    readInfos: bind(infos.readInfos),
    patchInfos: bind(infos.writeInfos),
    recordQuestionChange: bind(recordQuestionChange),
    search: bind(search.search),
    summarize: bind(search.summarize),
    browseHolon: bind(browse.browseHolon),
    browseJourney: bind(browse.browseJourney),
    readRoom: bind(room.readRoom),
    writeRoom: bind(room.writeRoom),
    resolveSpokenFilters: bind(spoken.resolveFilters),
    citeConversations: bind(spoken.cite),
    resolveOperatorFilters: bind(spoken.resolveForOperators),
    citeForOperators: bind(spoken.citeForOperators),
    resolveReaderFilters: bind(spoken.resolveReader),
    listReadable: bind(spoken.listReadable),
    listAccessFacts: bind(spoken.listAccessFacts),
    bookingHint: bind(bookingHint),
    reconcileBookings: bind(reconcileBookings),
    describe: bind(lookup.describe),
    exists: bind(lookup.exists),
    getTranscriptSource: bind(lookup.getTranscriptSource),
    attachAudio: bind(audio.attach),
    checkAudio: bind(audio.check),
    importConversations: bind(importConversations),
    exportPerson: bind(personData.exportPerson),
    erasePerson: bind(personData.erasePerson),
    mergePerson: bind(mergePerson),
    listNotes: bind(listNotes),
    ...receipts.createWebhookHandlers(dependencies),
    ...createPipelineHandlers(dependencies),
    listReceipts: bind(receipts.listReceipts),
    showReceipt: bind(receipts.showReceipt),
    replayReceipt: bind(receipts.replayReceipt),
    replayReceipts: bind(receipts.replayReceipts),
    describeAccess: bind(operatorView.describeAccess),
    adminList: bind(operatorView.list),
    adminShow: bind(operatorView.show),
    adminDelete: bind(deletion.remove),
    adminListDeleted: bind(deletion.listDeleted),
    adminRestore: bind(deletion.restore),
    getState: bind(deletion.getState),
    listStates: bind(deletion.listStates),
    adminMove: bind(operatorChange.move),
    adminConnect: bind(operatorChange.connect),
    adminDisconnect: bind(operatorChange.disconnect),
    adminImportTranscript: bind(operatorChange.importTranscript),
  };
}
