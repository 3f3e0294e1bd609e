// encoding/json into an empty interface. See README.md for what is read and written.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
)

func text(value string) string {
	points := []string{}
	for _, point := range value {
		points = append(points, fmt.Sprintf("%x", point))
	}
	return strings.Join(points, ".")
}

func dump(value interface{}, out []string) []string {
	switch value := value.(type) {
	case nil:
		return append(out, "n")
	case bool:
		if value {
			return append(out, "t")
		}
		return append(out, "f")
	case float64:
		return append(out, fmt.Sprintf("d%016x", math.Float64bits(value)))
	case string:
		return append(out, "s"+text(value))
	case []interface{}:
		out = append(out, "[")
		for _, element := range value {
			out = dump(element, out)
		}
		return append(out, "]")
	case map[string]interface{}:
		members, names := map[string]interface{}{}, []string{}
		for name, member := range value {
			name = "k" + text(name)
			members[name] = member
			names = append(names, name)
		}
		sort.Strings(names)
		out = append(out, "{")
		for _, name := range names {
			out = dump(members[name], append(out, name))
		}
		return append(out, "}")
	}
	panic("no other types")
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		body, _ := hex.DecodeString(lines.Text())
		var value interface{}
		if fault := json.Unmarshal(body, &value); fault != nil {
			fmt.Fprintf(out, "! %s\n", fault)
		} else {
			fmt.Fprintln(out, strings.Join(dump(value, nil), " "))
		}
	}
}
