/** Experiences and their logos (rules/holons#experiences, rules/media#logo; D51, D51a). */
import { type Actor, isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type HandlersOf, rawJson, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { isBlank } from '#libs/infrastructure/text';
import type { Dependencies } from '../dependencies.ts';
import { checkInfoFields, readInfoFields } from '../classes/index.ts';
import { holonEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import { getTag, getWrittenHolon, insertHolon, slugOf, slugWithSuffix } from '../holons/index.ts';
import { requireRichText } from '../texts/index.ts';
import { readViewer } from '../visibility/index.ts';
import type { experienceRpcs } from './contract.ts';
import { type ExperienceClassRow, findExperience, findParent, getLogo, listExperienceClasses } from './statements.ts';
import { setLogo } from './workers.ts';

type ExperienceHandlers = HandlersOf<typeof experienceRpcs>;
type NewExperience = RequestOf<typeof experienceRpcs.createExperience>;

/**
 * Maximum attempts to find a free slug. The suffix has six random characters, so a second collision is very unlikely.
 */
const maxSlugAttempts = 10;

export function createExperienceHandlers({
  db,
  jobs,
  idempotency,
  eventOutbox,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>): ExperienceHandlers {
  return {
    createExperience: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { actor } = context;
        const parent = await findEditableParent(tx, request.parent_id, actor);
        const [name, description] = [
          requireText('name', request.name.trim()),
          requireText('description', requireRichText('description', request.description)),
        ];
        const objectClass = chooseClass(
          await listExperienceClasses(tx, { classId: parent.class_id }),
          request.svc_class,
        );
        const { set } = checkInfoFields(
          readInfoFields(parseJson(objectClass.info_field_groups)),
          (request.info_fields ?? {}) as JsonObject,
        );
        const infos = JSON.stringify(set);
        const id = await insertWithFreshSlug(tx, {
          name,
          description,
          classId: objectClass.id,
          parentId: request.parent_id,
          links: '{}',
          infos,
        });
        await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
        await emitWritten(eventOutbox, tx, 'holon', 'created', [id]);
        history.created(tx, context, 'holons', [id]);
        const written = await getWrittenHolon(tx, { id, ...readViewer(actor) });
        return withEtag(rawJson(`{"experience":${written.body}}`), entityTag((await getTag(tx, { id })).body));
      }),
    checkExperienceLogo: async ({ experience_id: id }, { actor }) => {
      const row = isPossibleId(id) ? await findExperience(db, { id, ...readViewer(actor) }) : undefined;
      if (row === undefined) throw notFound();
      if (!row.can_edit) throw new AppError({ code: 'permission_denied', message: 'You cannot edit this experience.' });
      return rawJson(`{"experience":${row.body}}`);
    },
    setExperienceLogo: async (setting) => {
      await setLogo({ jobs, eventOutbox, history }, setting);
      const row = await getLogo(db, { id: setting.experience_id });
      if (row === undefined) throw notFound();
      return row;
    },
  };
}

/**
 * Returns the parent holon of a new experience. @throws AppError 404 if the parent does not exist or is invisible, 403
 * without the right to edit it
 */
async function findEditableParent(
  tx: Tx,
  id: number,
  actor: Actor | undefined,
): Promise<{ readonly class_id: number }> {
  const parent = isPossibleId(id) ? await findParent(tx, { id, ...readViewer(actor) }) : undefined;
  if (parent === undefined) throw notFound();
  if (!parent.can_edit)
    throw new AppError({ code: 'permission_denied', message: 'You cannot edit the content of this holon.' });
  return parent;
}

/** Returns the class of a new experience. @throws AppError 400 */
function chooseClass(
  allowed: readonly ExperienceClassRow[],
  requested: NewExperience['svc_class'],
): ExperienceClassRow {
  const [first] = allowed;
  if (first === undefined) throw badRequest("The parent's class does not allow experience classes as children.");
  if (requested === undefined || requested === null) return first;
  const chosen = allowed.find(({ slug }) => slug === requested);
  if (chosen === undefined) throw badRequest('svc_class is not an experience class that the parent allows as a child.');
  return chosen;
}

function requireText(field: string, text: string): string {
  if (isBlank(text)) throw badRequest(`${field} must not be blank.`);
  return text;
}

/** Inserts an experience. Retries with another slug if the slug is taken, also by a concurrent creation. */
async function insertWithFreshSlug(
  tx: Tx,
  experience: Omit<Parameters<typeof insertHolon>[1], 'slug'>,
): Promise<number> {
  const base = slugOf(experience.name);
  for (let attempt = 0; attempt < maxSlugAttempts; attempt++) {
    const slug = attempt === 0 ? base : slugWithSuffix(base);
    const row = await insertHolon(tx, { slug, ...experience });
    if (row !== undefined) return row.id;
  }
  throw new Error(`no free slug for ${base} after ${maxSlugAttempts} attempts`);
}
