# shellcheck shell=bash
doctor() { place; }
