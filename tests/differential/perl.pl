# JSON::PP, which comes with Perl. See README.md for what is read and written.
use strict;
use warnings;
use B ();
use JSON::PP ();

no warnings 'recursion';
my $json = JSON::PP->new->utf8->allow_nonref;

sub text { join '.', map { sprintf '%x', ord } split //, $_[0] }

sub dump_value {
    my ($value, $out) = @_;
    if (!defined $value) { push @$out, 'n' }
    elsif (JSON::PP::is_bool($value)) { push @$out, $value ? 't' : 'f' }
    elsif (ref $value eq 'ARRAY') {
        push @$out, '[';
        dump_value($_, $out) for @$value;
        push @$out, ']';
    }
    elsif (ref $value eq 'HASH') {
        push @$out, '{';
        my %named = map { ('k' . text($_)) => $value->{$_} } keys %$value;
        for (sort keys %named) { push @$out, $_; dump_value($named{$_}, $out) }
        push @$out, '}';
    }
    else {
        my $flags = B::svref_2object(\$value)->FLAGS;
        if ($flags & B::SVf_POK) { push @$out, 's' . text($value) }
        elsif ($flags & B::SVf_IOK) { push @$out, "i$value" }
        else { push @$out, 'd' . unpack('H*', pack('d>', $value)) }
    }
}

while (my $line = <STDIN>) {
    chomp $line;
    my @out;
    if (eval { dump_value($json->decode(pack('H*', $line)), \@out); 1 }) { print join(' ', @out), "\n" }
    else { my $fault = $@; $fault =~ s/\n/ /g; $fault =~ s/[^ -~]/?/g; print "! $fault\n" }
}
