/** Participants: people of the demo workspace, and a guest not yet in the directory. */
export const host = { email: 'ada@example.org', name: 'Ada Okafor' };
export const invited = [
  { email: 'ben@example.org', name: 'Ben Hartmann' },
  { email: 'chiara@example.org', name: 'Chiara Rossi' },
  { email: 'noor.guest@example.org', name: 'Noor Haddad' },
];
export const journeySlug = 'open-circle';
export const agentSlug = 'guide';
