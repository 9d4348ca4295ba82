export type { ConsoleAccess, NewSession, ServingHost, StoredSession } from '../../../store/console-access.js';
