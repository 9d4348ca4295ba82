import { expect, test } from 'vitest';
import { unpassedVariables } from './unpassed-variables.js';

const SET = {
  GITHUB_TOKEN: 'x',
  AWS_PROFILE: 'dev',
  AWS_REGION: 'eu',
  KUBECONFIG: '/k',
  SSH_AUTH_SOCK: '/s',
  BRAVE_API_KEY: '',
  TICKETS_KEY: 'y',
};

test.each([
  ['npx -y @modelcontextprotocol/server-github', ['GITHUB_TOKEN']],
  ['uvx awslabs.s3-mcp-server@latest', ['AWS_PROFILE', 'AWS_REGION']],
  ['/opt/bin/kubernetes-mcp-server', ['KUBECONFIG']],
  ['node /opt/github-mcp/dist/index.js', ['GITHUB_TOKEN']],
  ['uvx mcp-server-git --repository /home/me/github/x', ['SSH_AUTH_SOCK']],
  ['npx -y @modelcontextprotocol/server-brave-search', []],
  ['npx -y @modelcontextprotocol/server-filesystem /home/aws/notes/kube/all', []],
  ['docker run -i --rm -e TICKETS_KEY -e UNSET_KEY mcp/tickets', ['TICKETS_KEY']],
  ['docker run -i --rm --env=TICKETS_KEY -e PORT=80 mcp/tickets', ['TICKETS_KEY']],
  ['node tickets.mjs -e TICKETS_KEY', []],
])('of %s: %j', (line, expected) => {
  const [command = '', ...args] = line.split(' ');
  expect(unpassedVariables('it', { command, args }, SET)).toEqual(expected);
});

test('a server that was given one for the same end needs no other, and a remote one none', () => {
  const github = { command: 'github-mcp-server' };
  expect(unpassedVariables('it', { ...github, env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'y' } }, SET)).toEqual([]);
  expect(unpassedVariables('it', { ...github, inheritEnv: ['GITHUB_TOKEN'] }, SET)).toEqual([]);
  const remote = { url: 'https://github.com/mcp', args: undefined };
  expect(unpassedVariables('github', remote, SET)).toEqual([]);
});

test('the name of a server says what it is where its command does not', () => {
  const wrapper = { command: 'node', args: ['/opt/tools/server.mjs'] };
  expect(unpassedVariables('github', wrapper, SET)).toEqual(['GITHUB_TOKEN']);
  expect(unpassedVariables('my-kubernetes', wrapper, SET)).toEqual(['KUBECONFIG']);
  expect(unpassedVariables('it', wrapper, SET)).toEqual([]);
});
