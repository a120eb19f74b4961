/** One handler for each declared operation. */
import type { Rpc, RequestOf } from '#libs/contract';
import { isJsonObject } from '#libs/json';
import { jobAdminHandlers } from '#libs/jobs';
import type { HandlerReply, Handlers, RequestContext } from '#libs/nats';
import type { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import * as admin from './admin.ts';
import * as audio from './audio.ts';
import * as browse from './browse.ts';
import { importConversations } from './bulk-import.ts';
import * as conversation from './conversation.ts';
import * as deleted from './deleted.ts';
import * as infos from './infos.ts';
import * as lookup from './lookup.ts';
import * as note from './note.ts';
import * as operator from './operator.ts';
import { recordQuestionChange } from './question.ts';
import * as personData from './person-data.ts';
import * as receipt from './receipt.ts';
import { recorded } from './recorded.ts';
import * as room from './room.ts';
import * as search from './search.ts';

type Operation<R extends Rpc> = (dependencies: Dependencies, request: RequestOf<R>, context: RequestContext) => Promise<HandlerReply<R>>;

/** The conversation that a request names: by its name, so that no operation can forget to be narrowed (D69). */
function conversationOf(request: unknown): number | undefined {
  const id: unknown = isJsonObject(request) ? request['conversation_id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}

export function createHandlers(dependencies: Dependencies): Handlers<typeof conversations> {
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
    findActive: bind(conversation.findActive),
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
    bookingHint: bind(receipt.bookingHint),
    describe: bind(lookup.describe),
    exists: bind(lookup.exists),
    getTranscriptSource: bind(lookup.getTranscriptSource),
    attachAudio: bind(audio.attach),
    checkAudio: bind(audio.check),
    importConversations: bind(importConversations),
    exportPerson: bind(personData.exportPerson),
    erasePerson: bind(personData.erasePerson),
    listNotes: bind(note.listNotes),
    listReceipts: bind(receipt.listReceipts),
    showReceipt: bind(receipt.showReceipt),
    replayReceipt: bind(receipt.replayReceipt),
    replayReceipts: bind(receipt.replayReceipts),
    adminList: bind(operator.list),
    adminShow: bind(operator.show),
    adminDelete: bind(operator.remove),
    adminListDeleted: bind(deleted.listDeleted),
    adminRestore: bind(deleted.restore),
    getState: bind(deleted.getState),
    adminMove: bind(admin.move),
    adminConnect: bind(admin.connect),
    adminDisconnect: bind(admin.disconnect),
    adminImportTranscript: bind(admin.importTranscript),
  };
}
