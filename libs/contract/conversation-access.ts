/** What the values of CONVERSATION_ACCESS mean, as the start and `doctor` say it (D69, D92). */
export const conversationAccess = {
  open: '`open`: every account with a token reads and writes all conversations',
  members: '`members`: an account reads and writes the conversations of its person and of events in its team authority',
} as const;
