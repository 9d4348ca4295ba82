import type { ComponentType } from 'preact';
import type { ScreenName } from '../navigation.js';
import { AuditScreen } from './audit/audit-screen.js';
import { ConnectScreen } from './connect/connect-screen.js';
import { InboxScreen } from './inbox/inbox-screen.js';
import { PlaygroundScreen } from './playground/playground-screen.js';
import { PolicyScreen } from './policy/policy-screen.js';
import { RunsRoute } from './runs/runs-route.js';
import type { ScreenProps } from './screen-props.js';
import { ToolsScreen } from './tools/tools-screen.js';
import { UsageScreen } from './usage/usage-screen.js';

const BY_NAME: Readonly<Record<ScreenName, ComponentType<ScreenProps>>> = {
  inbox: InboxScreen,
  runs: RunsRoute,
  playground: PlaygroundScreen,
  tools: ToolsScreen,
  policy: PolicyScreen,
  audit: AuditScreen,
  usage: UsageScreen,
  connect: ConnectScreen,
};

export function screenOf(name: ScreenName): ComponentType<ScreenProps> {
  return BY_NAME[name];
}
