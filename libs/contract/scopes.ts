/** What a service key may do: each route that takes a token names the one scope that it needs (rules/access#scopes; K3). */
export const scopes = [
  'conversations:read',
  'conversations:write',
  'transcripts:read',
  'media:read',
  'media:write',
  'steps:read',
  'steps:write',
  'directory:read',
  'directory:write',
  'agents:read',
  'events:read',
  'webhooks:write',
  'keys:write',
  'ops:read',
  'ops:write',
] as const;
export type Scope = (typeof scopes)[number];

/** Every scope that there is, and that there will be. */
export const allScopes = '*';

/** Whether somebody who holds these scopes may do what needs that one; `everyScope` is held by itself alone. */
export function hasScope(held: readonly string[], needed: string): boolean {
  return held.includes(needed) || held.includes(allScopes);
}
