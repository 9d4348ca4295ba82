#!/bin/sh
# Starts conformance-client.mjs for the scenarios that count, one at a time: conformance-client.sh LOCK NODE SCRIPT URL
#
# The suite starts a client for each of its scenarios, and most of those do not count: a shell says so in a millisecond.
case ",$CODEMODE_SUITE_SCENARIOS," in
  *",$MCP_CONFORMANCE_SCENARIO,"*) exec flock "$@" ;;
esac
