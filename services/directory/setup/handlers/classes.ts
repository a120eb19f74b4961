/** Creates, changes and deletes classes (W5, W14). */
import { recordAudit } from '#libs/infrastructure/audit';
import type { JsonObject } from '#libs/infrastructure/json';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { getClassById } from '../../classes/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { lockWorkspace } from '../../person-rows/index.ts';
import { applyItem, checkItem } from '../../workspace/index.ts';
import type { setupRpcs } from '../contract.ts';
import { changesOf, checkSize, requireEditor, slugTaken } from '../rules.ts';
import { classRows, findClass, findClassBySlug } from '../statements.ts';
import { auditChanges, deleteUnused, findForWriting, replyWith, type SetupDependencies } from './shared.ts';

type ClassHandlers = Pick<HandlersOf<typeof setupRpcs>, 'createClass' | 'updateClass' | 'deleteClass'>;

export function createClassSetupHandlers(deps: SetupDependencies): ClassHandlers {
  const { jobs, idempotency, history } = deps;
  return {
    createClass: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        requireEditor(context.actor);
        checkFields(request);
        await lockWorkspace(tx);
        if ((await findClassBySlug(tx, { slug: request.slug })) !== undefined) throw slugTaken(request.slug);
        const { id } = await applyItem(tx, deps, context, 'classes', request);
        recordAudit(tx, context, { target: { type: 'class', id } });
        return replyWith('class', (await getClassById(tx, { id })).body);
      }),
    updateClass: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { object_kind: kind, slug, if_match: condition, ...fields } = request;
        const { id } = await findForWriting(tx, context.actor, () => findClass(tx, { kind, slug }));
        await checkIfMatch(condition, () => getClassById(tx, { id }));
        checkFields({ slug, ...fields });
        const { readChanges } = await applyItem(tx, deps, context, 'classes', { slug, ...fields });
        const changes = changesOf(await readChanges(), fields);
        auditChanges(tx, context, 'class', id, changes);
        return replyWith('class', (await getClassById(tx, { id })).body, changes);
      }),
    deleteClass: async ({ object_kind: kind, slug, if_match: condition }, context) => {
      await jobs.transaction(async (tx) => {
        const { id } = await findForWriting(tx, context.actor, () => findClass(tx, { kind, slug }));
        await classRows.lock(tx, { id });
        await checkIfMatch(condition, () => getClassById(tx, { id }));
        await history.recordChanges(tx, context, 'classes', [id]);
        await deleteUnused(tx, classRows, id);
        recordAudit(tx, context, { target: { type: 'class', id } });
      });
      return {};
    },
  };
}

function checkFields(item: JsonObject): void {
  checkSize('config', item['config']);
  checkItem('classes', item);
}
