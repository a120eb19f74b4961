/** Callers of set-up over the open API (W5, W17). */
import type { Actor } from '#libs/infrastructure/contract';

const user = (rights: Partial<Extract<Actor, { kind: 'user' }>> = {}): Actor => ({
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  ...rights,
});
export const editor = user({ workspaceEditor: true });
export const superuser = user({ superuser: true });
/** Callers that cannot write set-up; the first one has no rights. */
export const others = [user(), user({ globalEditor: true }), user({ coherenceAccess: true, ops: 'act' })] as const;
export const member = user({ coherenceAccess: true });

export const codes = { denied: 'permission_denied', absent: 'not_found', invalid: 'bad_request' };
