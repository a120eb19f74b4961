/** The route table: every HTTP operation of the platform (architecture#contracts). */
import { agentRoutes } from './agents.ts';
import { audioRoutes } from './audio.ts';
import { authRoutes } from './auth.ts';
import { bookingRoutes } from './bookings.ts';
import { browseRoutes } from './browse.ts';
import { browseDirectoryRoutes } from './browse-directory.ts';
import { chatPageRoutes } from './chat-page.ts';
import { consoleRoutes } from './console.ts';
import { conversationRoutes } from './conversations.ts';
import { docsRoutes } from './docs.ts';
import { infosRoutes } from './infos.ts';
import { mcpRoutes } from './mcp.ts';
import { meetingRoutes } from './meetings.ts';
import { opsRoutes } from './ops/index.ts';
import { questionRoutes } from './questions.ts';
import { searchRoutes } from './search.ts';
import { journeyRoutes } from './journeys.ts';
import { transcriptRoutes } from './transcripts.ts';
import { roomRoutes } from './room.ts';
import { v1Routes } from './v1/index.ts';
import { videoRoutes } from './video.ts';

export const routes = [
  ...conversationRoutes,
  ...infosRoutes,
  ...questionRoutes,
  ...searchRoutes,
  ...browseRoutes,
  ...browseDirectoryRoutes,
  ...journeyRoutes,
  ...roomRoutes,
  ...bookingRoutes,
  ...meetingRoutes,
  ...audioRoutes,
  ...videoRoutes,
  ...authRoutes,
  ...v1Routes,
  ...opsRoutes,
  ...agentRoutes,
  ...mcpRoutes,
  ...docsRoutes,
  ...chatPageRoutes,
  ...consoleRoutes,
  ...transcriptRoutes,
];
