export type {
  ConsoleAccess,
  ConsolePlace,
  NewSession,
  ServingHost,
  StoredSession,
} from '../../../store/console-access.js';
